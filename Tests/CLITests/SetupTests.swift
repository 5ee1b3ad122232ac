// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKFIDO
import YKKeys
import YKManagement
import YKTestSupport
import YKTransport
import YKVirtualKey

@testable import DeviceVerbs

/// The step of setup that concerns the machine: the guard.
@Suite struct SetupTests {
    private func parts(hasUHID: Bool = true, hasUnits: Bool = true, isEnabled: Bool = false) -> GuardParts {
        GuardParts(isEnabled: isEnabled, hasUHID: hasUHID, hasPinentry: false, hasList: false, hasUnits: hasUnits)
    }

    private func state(_ parts: GuardParts, isDesktop: Bool = true) async throws -> SetupState {
        var state = SetupState()
        let key = try VirtualKey.new()
        state.key = KeyDetails(DeviceIdentity(maker: .unknown, product: "Key"))
        state.authenticator = try await FIDOService.open(hid: try key.reportLink()).info()
        (state.guardParts, state.hasDesktop) = (parts, isDesktop)
        return state
    }

    @Test("the guard is offered where its services and uhid are, with the command for a desktop or a terminal")
    func offered() async throws {
        for (isDesktop, end) in [(true, "systemctl --user enable --now ykit-guard"), (false, "ykit guard")] {
            let report = SetupReport(try await state(parts(), isDesktop: isDesktop), [])
            let step = try #require(report.steps.first { $0.step == .guard })
            #expect(step.state == .open && step.isOffered)
            expect(step.line, is: "sudo systemctl enable --now ykit-guard.socket && \(end)")
            #expect(report.lines(80).contains { $0.contains(step.line) })
        }
    }

    @Test("not where something is missing, and not where it is enabled")
    func notOffered() async throws {
        for parts in [parts(hasUnits: false), parts(hasUHID: false)] {
            let report = SetupReport(try await state(parts), [])
            expect(report.steps.first { $0.step == .guard }?.state, is: .unsupported)
            #expect(!report.lines(80).contains { $0.contains("every program") })
        }
        let report = SetupReport(try await state(parts(isEnabled: true)), [])
        expect(report.steps.first { $0.step == .guard }?.state, is: .done)
    }

    @Test("the services are found where the package or its archive installs them")
    func found() throws {
        let root = "\(NSTemporaryDirectory())/ykit-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: root) }
        #expect(!GuardParts.find(home: nil, root: root).hasUnits)
        for name in [
            "/usr/lib/systemd/system/ykit-guard.socket", "/usr/lib/systemd/user/ykit-guard.service", "/dev/uhid",
        ] {
            let url = URL(filePath: root + name)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data().write(to: url)
        }
        let parts = GuardParts.find(home: nil, root: root)
        #expect(parts.hasUnits && parts.hasUHID && !parts.isEnabled)
    }
}
