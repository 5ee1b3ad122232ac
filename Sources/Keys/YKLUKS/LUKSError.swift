// SPDX-License-Identifier: Apache-2.0

public import YKHardware

/// Why a volume cannot be read or changed.
public enum LUKSError: Error, Hashable, Sendable {
    /// It is not a LUKS volume.
    case notLUKS
    /// It is a LUKS volume of a version other than 2, which has no tokens.
    case version(Int)
    /// Both copies of the header violate the format.
    case damaged(String)
    /// All numbers of slots or tokens are taken.
    case full
    /// There is no such slot.
    case noSuchSlot(Int)
    /// No other slot opens the volume.
    case lastSlot(Int)
    /// The key is neither RSA nor on P-256 or P-384.
    case unfitKey
    /// cryptsetup is not installed.
    case noCryptsetup
    /// No slot has the passphrase.
    case wrongPassphrase
    /// The slot was added, but not its token, and cryptsetup could not remove it again.
    case slotRemains(Int)
    /// cryptsetup failed, with its message.
    case cryptsetup(String, status: Int)
    /// cryptsetup could not be run, or did not finish.
    case program(ProgramError)
}
