// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKVirtualKey
package import YKVirtualKeyHost

extension Explain {
    static func virtualKey(_ error: VirtualKeyFileError) -> Explanation {
        switch error {
        case .unreadable(let path, let number, _), .unwritable(let path, let number, _):
            Explanation(
                "state-file", Files.exit(number),
                "\(error)".replacing(path, with: Files.named(path)),
                hint: "name a file in a folder you may write")
        case .notAFile, .broken:
            malformed("\(error)", hint: "the file is left as it is; name another one to start a new key")
        case .newer: malformed("\(error)", hint: "use that version, or name another file")
        case .inUse:
            Explanation("state-file-busy", .busy, "\(error)", hint: "end it, or name another file")
        }
    }

    package static func usbip(_ error: USBIPError) -> Explanation {
        switch error {
        case .missing: Explanation("usbip", .noDevice, "\(error)", hint: "sudo modprobe vhci-hcd")
        case .denied: Explanation("usbip", .permission, "\(error)", hint: "run it with sudo")
        case .noPort: Explanation("usbip", .busy, "\(error)", hint: "end one of the programs that use them")
        case .failed, .gone: Explanation("usbip", .failed, "\(error)")
        }
    }

    package static func uhid(_ error: UHIDError) -> Explanation {
        switch error {
        case .missing: Explanation("uhid", .noDevice, "\(error)", hint: "sudo modprobe uhid")
        case .denied: Explanation("uhid", .permission, "\(error)", hint: "run it with sudo")
        case .failed, .gone: Explanation("uhid", .failed, "\(error)")
        }
    }
}
