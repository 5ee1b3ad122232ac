// SPDX-License-Identifier: Apache-2.0

public import YKPrivacyIDEA

/// Why a user's second factor could not be dealt with.
public enum SecondFactorError: Error, Hashable, Sendable {
    /// The server refused or could not be asked.
    case server(PrivacyIDEAError)
}
