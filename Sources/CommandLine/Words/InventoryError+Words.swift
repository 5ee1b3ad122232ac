// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKInventory

extension InventoryError: Explained {
    package var explanation: Explanation { explanation(concerning: nil) }

    package func explanation(concerning subject: Subject?) -> Explanation {
        let file = subject?.text ?? "the file"
        return switch self {
        case .malformed(let reason):
            .malformed("\(file.printable) is not a ykit inventory: \(reason.printable)")
        case .version(let version):
            .malformed(
                "\(file.printable) is an inventory of version \(version), which this version of ykit does not support",
                hint: "use a later version of ykit")
        }
    }
}

extension ReferenceError: Explained {
    package var explanation: Explanation { explanation(concerning: nil) }

    package func explanation(concerning subject: Subject?) -> Explanation {
        let file = subject?.text ?? "the file"
        return switch self {
        case .unknownKind:
            .malformed(
                "\(file.printable) is not a file that refers to keys",
                hint: "expected an OpenSSH key file, an age file, a pam_u2f mapping, or a LUKS2 volume")
        case .malformed(let reason): .malformed("\(file.printable) cannot be read: \(reason.printable)")
        case .volume(let error): error.explanation(concerning: .volume(file))
        }
    }
}
