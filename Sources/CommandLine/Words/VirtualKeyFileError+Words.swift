// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKCapture
package import YKVirtualKey
package import YKVirtualKeyHost

extension VirtualKeyFileError: Explained {
    package var explanation: Explanation {
        switch self {
        case .unreadable(let path, let number, _), .unwritable(let path, let number, _):
            Explanation(
                "state-file", ExitStatus(errno: number),
                "\(self)".replacing(path, with: path.pathInWords),
                hint: "choose a file in a folder where you can write")
        case .notAFile, .broken:
            .malformed("\(self)", hint: "the file was not changed; choose another one to create a new key")
        case .newer: .malformed("\(self)", hint: "use that version, or choose another file")
        case .inUse:
            Explanation("state-file-busy", .busy, "\(self)", hint: "stop it, or choose another file")
        }
    }
}

extension USBIPError: Explained {
    package var explanation: Explanation {
        switch self {
        case .missing: Explanation("usbip", .noDevice, "\(self)", hint: "sudo modprobe vhci-hcd")
        case .denied: Explanation("usbip", .permission, "\(self)", hint: "run it with sudo")
        case .noPort: Explanation("usbip", .busy, "\(self)", hint: "stop one of the programs that use them")
        case .failed, .gone: Explanation("usbip", .failed, "\(self)")
        }
    }
}

extension UHIDError: Explained {
    package var explanation: Explanation {
        switch self {
        case .missing: Explanation("uhid", .noDevice, "\(self)", hint: "sudo modprobe uhid")
        case .denied: Explanation("uhid", .permission, "\(self)", hint: "run it with sudo")
        case .failed, .gone: Explanation("uhid", .failed, "\(self)")
        }
    }
}

extension CaptureError: Explained {
    package var explanation: Explanation { explanation(concerning: nil) }

    package func explanation(concerning subject: Subject?) -> Explanation {
        let what = subject.map { $0.text == "-" ? "standard input" : $0.text.printable } ?? "this"
        return .malformed(
            "\(what) is not a ykit recording: \(self)",
            hint: "'ykit --record FILE' creates one; 'ykit capture import' converts another tool's log")
    }
}
