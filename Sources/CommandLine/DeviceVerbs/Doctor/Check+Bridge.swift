// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import YKBridge
import YKHardware

extension Check {
    /// The bridges to smart cards: their owners, and whether this user's programs can use them.
    static func bridges(_ devices: [BridgeDevice]) -> [Check] {
        devices.map { device in
            let owner = device.owner.map { ", which belongs to \($0.printable)" } ?? ""
            let what =
                switch device.name {
                case GuardSystem.name: "a guard presents the key"
                case FarEnd.name: "'ykit remote' presents a key of another machine"
                default: "a bridge presents the cards in the readers"
                }
            let seen = "\(what) to programs as \(device.path)\(owner)"
            switch device.access {
            case .readable: return Check("bridge", .good, seen)
            case .missing: return Check("bridge", .note, seen + "; that node is not visible here")
            case .denied:
                return Check(
                    "bridge", .note, seen + "; \(User.name) may not use it",
                    remedy: "a bridge serves one user: sudo systemctl enable --now ykit-bridge@\(User.name)")
            }
        }
    }
}
