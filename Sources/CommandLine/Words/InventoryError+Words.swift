// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKInventory
import YKWire

extension InventoryError: Explained {
    package var explanation: Explanation { explanation(in: "the file") }

    /// Explains why a file is not a usable inventory.
    package func explanation(in file: String) -> Explanation {
        switch self {
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
    package var explanation: Explanation { explanation(in: "the file") }

    /// Explains why a file has no usable references.
    package func explanation(in file: String) -> Explanation {
        switch self {
        case .unknownKind:
            .malformed(
                "\(file.printable) is not a file that refers to keys",
                hint: "expected an OpenSSH key file, an age file, a pam_u2f mapping, or a LUKS2 volume")
        case .malformed(let reason): .malformed("\(file.printable) cannot be read: \(reason.printable)")
        case .volume(let error): error.explanation(in: file)
        }
    }
}
