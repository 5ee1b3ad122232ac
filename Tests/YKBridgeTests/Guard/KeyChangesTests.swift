// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization
import Testing
import YKCrypto
import YKFIDO
import YKTestSupport
import YKTransport
import YKVirtualKey

@testable import YKBridge

/// What a guard learns of other programs' use of its key, and of browsers that would not find its device.
@Suite struct KeyChangesTests {
    @Test("another program's use of the key is noticed, and whether programs have to see the key anew")
    func noticed() async throws {
        let path = "\(NSTemporaryDirectory())/ykit-\(UUID().uuidString)"
        try Data().write(to: URL(filePath: path))
        defer { unlink(path) }
        let key = try VirtualKey.new()
        let service = try await FIDOService.open(hid: try key.reportLink(), environment: .instant)
        let other = try await FIDOService.open(hid: try key.reportLink(), environment: .instant)
        let uses = Mutex<[KeyChanges.Use]>([])
        let stop = Cancellation()
        let isWatched = try await KeyChanges.watch(service, at: path, until: [stop]) { use in
            uses.withLock { $0.append(use) }
        }
        #expect(isWatched)
        for number in 1...2 {
            if number == 2 { try await other.setPIN(SharedSecret(Secret(utf8: "73519024"))) }
            close(open(path, O_RDWR))
            for _ in 0..<1000 where uses.withLock({ $0.count }) < number {
                try await Task.sleep(for: .milliseconds(10))
            }
        }
        expect(uses.withLock { $0 }, is: [.same, .changed])
        stop.cancel()
        #expect(try await !KeyChanges.watch(service, at: path + ".none", until: []) { _ in })
    }

    @Test("a browser that is a snap is blind unless snapd's rules list the guard's numbers")
    func snaps() throws {
        let root = "\(NSTemporaryDirectory())/ykit-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: root) }
        func write(_ path: String, _ text: String) throws {
            let url = URL(filePath: root + path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
        func rule(_ vendor: String, _ products: String) -> String {
            "# a key\nSUBSYSTEM==\"hidraw\", KERNEL==\"hidraw*\", ATTRS{idVendor}==\"\(vendor)\", "
                + "ATTRS{idProduct}==\"\(products)\", TAG+=\"snap_firefox_firefox\"\n"
        }
        #expect(SnapBrowsers.blind(root: root).isEmpty)
        try write("/snap/bin/vlc", "")
        try write("/snap/bin/firefox", "")
        expect(SnapBrowsers.blind(root: root), is: ["firefox"])
        try write("/etc/udev/rules.d/70-snap.firefox.rules", rule("1050", "0113|0407") + rule("1209", "5070|50b0"))
        try write("/snap/bin/chromium", "")
        expect(SnapBrowsers.blind(root: root), is: ["firefox", "chromium"])
        try write("/etc/udev/rules.d/70-snap.firefox.rules", rule("1050", "0113") + rule("1209", "5070|796B"))
        expect(SnapBrowsers.blind(root: root), is: ["chromium"])
    }
}
