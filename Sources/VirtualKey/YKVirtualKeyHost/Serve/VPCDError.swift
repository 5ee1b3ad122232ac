// SPDX-License-Identifier: Apache-2.0

import YKVirtualKey

/// Why the virtual key is not in vpcd's reader.
public enum VPCDError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The host name cannot be resolved.
    case unknownHost(String)
    /// Nothing listens at the address, or it could not be reached.
    case notReachable(VPCDAddress, errno: Int32, String)
    /// The reader is gone because the smart card service has stopped.
    case readerGone(VPCDAddress)

    /// What happened and what to check, in one line.
    public var description: String {
        switch self {
        case .unknownHost(let host): "cannot resolve host \(host)"
        case .notReachable(let address, _, let reason):
            "no virtual reader at \(address): \(reason); is pcscd running, with the vpcd driver (vsmartcard-vpcd)?"
        case .readerGone(let address): "the virtual reader at \(address) is gone"
        }
    }
}
