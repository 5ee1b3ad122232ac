// SPDX-License-Identifier: Apache-2.0

import YKVirtualKey

/// Why the virtual key could not become a USB device of this machine.
public enum USBIPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kernel lacks the virtual host controller or has not loaded it.
    case missing(path: String)
    /// This user may not attach devices to it.
    case denied(path: String)
    /// All its ports are in use.
    case noPort
    /// Any other failure, with the error number.
    case failed(path: String, errno: Int32, String)
    /// The kernel removed the device or sent an invalid message.
    case gone

    /// What happened, in one line.
    public var description: String {
        switch self {
        case .missing(let path): "there is no \(path): the kernel's vhci-hcd module is not loaded"
        case .denied(let path): "no permission to attach a USB device with \(path)"
        case .noPort: "all ports of the virtual USB host controller are in use"
        case .failed(let path, _, let reason): "\(path): \(reason)"
        case .gone: "the kernel removed the USB device"
        }
    }
}
