// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing
import YKTestSupport

@testable import YKVirtualKey
@testable import YKVirtualKeyHost

/// Where devices are looked for and plugged in, in a folder that looks like the kernel's.
struct VirtualHostControllerTests {
    private let status = "hub port sta spd dev      sockfd local_busid\nhs  0000 006 002 00010002 000003 1-2\n"

    @Test func attachesToTheFirstFreePort() throws {
        let folder = Folder()
        folder.write(status + "hs  0001 004 000 00000000 000000 0-0\n", "status")
        folder.write("", "attach")
        let plug = try VirtualHostController(folder: folder.path).attach()
        expect(plug.port, is: 1)
        let line = folder.read("attach").split(separator: " ")
        #expect(line.first == "1" && line.suffix(2) == ["65538", "2"])
        close(plug.descriptor)
    }

    @Test func saysWhatIsMissing() throws {
        let folder = Folder()
        let controller = VirtualHostController(folder: folder.path)
        #expect(throws: USBIPError.missing(path: folder["status"])) { _ = try controller.attach() }
        folder.write(status, "status")
        #expect(throws: USBIPError.noPort) { _ = try controller.attach() }
        folder.write("hs 0000 004\n", "status")
        #expect(throws: USBIPError.missing(path: folder["attach"])) { _ = try controller.attach() }
    }

    @Test func findsTheNode() throws {
        let folder = Folder()
        let root = folder["class"]
        defer { try? FileManager.default.removeItem(atPath: root) }
        for (name, place) in [("hidraw0", "usb-1/input0"), ("hidraw3", "usb-1/input1"), ("other", "usb-1/input1")] {
            try FileManager.default.createDirectory(atPath: "\(root)/\(name)/device", withIntermediateDirectories: true)
            try "HID_ID=1\nHID_PHYS=\(place)\n".write(
                toFile: "\(root)/\(name)/device/uevent", atomically: true, encoding: .utf8)
        }
        expect(HIDNode.of(place: "usb-1/input1", in: root), is: "/dev/hidraw3")
        expect(HIDNode.of(place: "usb-2/input1", in: root), is: nil)
        expect(HIDNode.of(place: "usb-1/input1", in: "\(root)/nothing"), is: nil)
    }

    @Test func searchesForAWhile() {
        var search = NodeSearch(place: "nowhere", patience: 2)
        #expect(search.next() == nil && search.pause == nil)
        search.start()
        #expect(search.next() == nil && search.pause == .milliseconds(10))
        #expect(search.next() == "" && search.next() == nil)
    }
}
