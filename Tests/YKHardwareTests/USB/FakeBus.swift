// SPDX-License-Identifier: Apache-2.0

import Foundation
import YKWire

@testable import YKHardware

/// A folder that looks like /sys/bus/usb and /dev/bus/usb; gone with its owner.
final class FakeBus: Sendable {
    static let device: [UInt8] = [18, 1, 0, 2, 0, 0, 0, 64, 0x50, 0x10, 7, 4, 0x71, 5, 1, 2, 0, 1]
    static let configuration: [UInt8] = [9, 2, 120, 0, 2, 1, 0, 0x80, 15]
    static let keyboard: [UInt8] = [9, 4, 0, 0, 1, 3, 1, 1, 0]
    static let reader: [UInt8] =
        [9, 4, 2, 0, 3, 0x0B, 0, 0, 0] + CCID.Descriptor(features: .extendedAPDU).encoded + [
            7, 5, 2, 2, 64, 0, 0, 7, 5, 0x82, 2, 64, 0, 0, 7, 5, 0x83, 3, 8, 0, 32,
        ]
    static let key = device + configuration + keyboard + reader

    let root = FileManager.default.temporaryDirectory.appendingPathComponent("ykit-\(UUID().uuidString)")
    var machine: USBMachine { USBMachine(system: path("sys").path, devices: path("dev").path) }

    init() throws {
        for folder in ["sys/bus/usb/devices", "dev/bus/usb/001"] { try make(folder) }
    }

    deinit { try? FileManager.default.removeItem(at: root) }

    private func path(_ name: String) -> URL { root.appendingPathComponent(name) }

    private func make(_ folder: String) throws {
        try FileManager.default.createDirectory(at: path(folder), withIntermediateDirectories: true)
    }

    func plug(
        _ port: String, _ address: Int, _ descriptors: [UInt8] = FakeBus.key, texts: [String: String] = [:],
        driver: String? = nil, hasNode: Bool = true
    ) throws {
        let folder = "sys/bus/usb/devices/\(port)"
        try make(folder)
        let node = "bus/usb/001/00\(address)"
        try Data(descriptors).write(to: path("\(folder)/descriptors"))
        let facts = "MAJOR=189\nDEVNAME=\(node)\nDEVTYPE=usb_device\nBUSNUM=001\nDEVNUM=00\(address)\n"
        try Data(facts.utf8).write(to: path("\(folder)/uevent"))
        for (name, text) in texts { try Data("\(text)\n".utf8).write(to: path("\(folder)/\(name)")) }
        if hasNode { try Data().write(to: path("dev/\(node)")) }
        guard let driver else { return }
        try make("\(folder)/\(port):1.2")
        try FileManager.default.createSymbolicLink(
            atPath: path("\(folder)/\(port):1.2/driver").path, withDestinationPath: "../drivers/\(driver)")
    }
}
