// SPDX-License-Identifier: Apache-2.0

public import YKPrivacyIDEA

/// Why an approval, an enrolment or an account could not be dealt with.
public enum ApprovalError: Error, Hashable, Sendable {
    /// The server refused or could not be asked.
    case server(PrivacyIDEAError)
    /// A link, a QR code or an answer is not what it has to be.
    case malformed(String)
}
