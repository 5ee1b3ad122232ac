// SPDX-License-Identifier: Apache-2.0

import Dispatch
import YKManagement
import YKTransport

extension FuzzTarget {
    static let management: [FuzzTarget] = [
        FuzzTarget(name: "device-info") { bytes in
            let select = Array("FW 5.7.1".utf8) + [0x90, 0x00]
            withManagement([select] + pieces(bytes)) { _ = try await $0.deviceInfo() }
        },
        FuzzTarget(name: "device-identity") { bytes in
            _ = try? DeviceIdentity.read(CardChannel(link: ScriptedCard(pieces(bytes))))
        },
    ]
}

/// Opens the management of a scripted card and does `work`, waiting for the end of it.
private func withManagement(
    _ replies: [[UInt8]], _ work: @escaping @Sendable (ManagementService) async throws -> Void
) {
    let done = DispatchSemaphore(value: 0)
    Task {
        let channel = CardChannel(link: ScriptedCard(replies), environment: ServiceEnvironment(timeout: .seconds(5)))
        if let service = try? await ManagementService.open(channel) { try? await work(service) }
        done.signal()
    }
    done.wait()
}
