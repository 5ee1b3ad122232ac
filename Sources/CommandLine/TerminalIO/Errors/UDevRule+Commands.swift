// SPDX-License-Identifier: Apache-2.0

package import YKHardware

extension UDevRule {
    /// The commands that install the rules and apply them to all nodes, for the user to type.
    package static let commands = [
        "ykit udev-rules | sudo tee \(folder)\(file) > /dev/null",
        "sudo udevadm control --reload && sudo udevadm trigger --subsystem-match=usb --subsystem-match=hidraw",
    ]
}
