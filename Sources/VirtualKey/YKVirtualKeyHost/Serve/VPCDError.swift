// SPDX-License-Identifier: Apache-2.0

import YKVirtualKey

/// Why the virtual key is not in vpcd's reader.
public enum VPCDError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The host's name means no address.
    case unknownHost(String)
    /// Nothing listens there, or it could not be reached.
    case notReachable(VPCDAddress, errno: Int32, String)
    /// The reader went away: the smart card service ended.
    case readerGone(VPCDAddress)

    /// What happened and what to look at, in one line.
    public var description: String {
        switch self {
        case .unknownHost(let host): "no address is known for \(host)"
        case .notReachable(let address, _, let reason):
            "no virtual reader at \(address): \(reason); is pcscd running, with the vpcd driver (vsmartcard-vpcd)?"
        case .readerGone(let address): "the virtual reader at \(address) went away"
        }
    }
}
