// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

@testable import YKHardware

/// A folder that looks like /sys and /dev of a machine with HID devices; gone with its owner.
final class FakeSystem: Sendable {
    static let keyboard =
        "05010906a101050719e029e71500250175019508810295017508810195057501050819012905910295017503910195067508"
        + "150025650507190029658100090375089508b102c0"
    static let mouse =
        "05010902a1010901a100050919012903150025019503750181029501750581030501093009311581257f"
        + "750895028106c0c0"

    let root = FileManager.default.temporaryDirectory.appendingPathComponent("ykit-\(UUID().uuidString)")

    init() throws {
        for folder in ["sys/class/hidraw", "dev"] {
            try FileManager.default.createDirectory(at: path(folder), withIntermediateDirectories: true)
        }
    }

    deinit { try? FileManager.default.removeItem(at: root) }

    private func path(_ name: String) -> URL { root.appendingPathComponent(name) }

    /// The machine that is this folder.
    var machine: HIDMachine {
        HIDMachine(news: DeviceNews(hasDaemon: { false }), system: path("sys").path, devices: path("dev").path)
    }

    /// Plugs a device in as hidrawN at a USB port.
    func plug(
        _ number: Int, _ descriptor: String = FakeNode.fido, at port: String = "usb1/1-2/1-2:1.1",
        id: String = "0003:00001050:00000407", name: String = "Yubico YubiKey", serial: String = "",
        hasNode: Bool = true
    ) throws {
        let parent = "sys/devices/\(port)/0003:1050:0407.000\(number)"
        let folder = path("\(parent)/hidraw/hidraw\(number)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folder.appendingPathComponent("device").path, withDestinationPath: "../..")
        let bytes = stride(from: 0, to: descriptor.count, by: 2).compactMap { offset in
            UInt8(descriptor.dropFirst(offset).prefix(2), radix: 16)
        }
        try Data(bytes).write(to: path("\(parent)/report_descriptor"))
        let facts = "DRIVER=hid-generic\nHID_ID=\(id)\nHID_NAME=\(name)\nHID_PHYS=\nHID_UNIQ=\(serial)\n"
        try Data(facts.utf8).write(to: path("\(parent)/uevent"))
        if hasNode { try Data().write(to: path("dev/hidraw\(number)")) }
        try FileManager.default.createSymbolicLink(
            at: path("sys/class/hidraw/hidraw\(number)"), withDestinationURL: folder)
    }

    func unplug(_ number: Int) throws {
        try FileManager.default.removeItem(at: path("sys/class/hidraw/hidraw\(number)"))
    }

    func removeNode(_ number: Int) throws { try FileManager.default.removeItem(at: path("dev/hidraw\(number)")) }
}
