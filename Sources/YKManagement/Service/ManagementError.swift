// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// Why a management operation failed.
public enum ManagementError: Error, Hashable, Sendable {
    /// The exchange with the card failed, or ended with a status word that means nothing special here; the
    /// application is not on the card (`appletMissing`).
    case card(CardError)
    /// The key says that there are more pages of device information than there can be.
    case endlessInfo
}
