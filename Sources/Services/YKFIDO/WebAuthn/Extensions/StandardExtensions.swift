// SPDX-License-Identifier: Apache-2.0

/// The extensions that every client supports by default.
public enum StandardExtensions {
    /// All of them.
    public static let all: [any ClientExtension] = [
        CredPropsExtension(), CredProtectExtension(), PRFExtension(), HMACSecretExtension(), LargeBlobExtension(),
        CredBlobExtension(), MinPINLengthExtension(), AppIDExtension(), UVMExtension(), PaymentExtension(),
        PreviewSignExtension(),
    ]
}
