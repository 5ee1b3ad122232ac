// SPDX-License-Identifier: Apache-2.0

import YKVirtualKey

/// Why the virtual key could not become a HID device of this machine.
public enum UHIDError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kernel lacks uhid or has not loaded it.
    case missing(path: String)
    /// This user may not create HID devices.
    case denied(path: String)
    /// Any other failure, with the error number.
    case failed(path: String, errno: Int32, String)
    /// The kernel removed the device.
    case gone

    /// What happened and what to do, in one line.
    public var description: String {
        switch self {
        case .missing(let path): "there is no \(path): the kernel's uhid module is not loaded"
        case .denied(let path): "no permission to create a HID device with \(path)"
        case .failed(let path, _, let reason): "\(path): \(reason)"
        case .gone: "the kernel removed the HID device"
        }
    }
}
