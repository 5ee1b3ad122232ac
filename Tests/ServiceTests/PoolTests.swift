// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import YKFIDO
import YKHSMAuth
import YKManagement
import YKNFC
import YKOATH
import YKOTP
import YKOpenPGP
import YKPIV
import YKProtocols
import YKSecurityDomain
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// Opens each service on a link that blocks.
enum Opened: CaseIterable {
    case oath, piv, management, managementOverOTP, fidoCard, fidoHID, otpCard, otpHID, tag, card, hsmAuth, openPGP,
        securityDomain

    /// Opens the service and gives its runtime.
    func open(
        _ gate: Gate, _ environment: ServiceEnvironment = ServiceEnvironment(timeout: .seconds(60))
    ) async throws -> ServiceRuntime {
        let key = VirtualKey.demonstration()
        switch self {
        case .oath: return try await OATHService.open(channel(key, gate, environment)).runtime
        case .piv: return try await PIVService.open(channel(key, gate, environment)).runtime
        case .management: return try await ManagementService.open(channel(key, gate, environment)).runtime
        case .managementOverOTP:
            let reports = GatedReports(key.otpReportLink(), gate)
            return try await ManagementService.open(otp: HIDOTPLink(reports, environment: environment)).runtime
        case .fidoCard: return try await FIDOService.open(card: channel(key, gate, environment)).runtime
        case .fidoHID:
            return try await FIDOService.open(hid: GatedReports(key.reportLink(), gate), environment: environment)
                .runtime
        case .otpCard: return try await OTPService.open(CardOTPLink(channel(key, gate, environment))).runtime
        case .otpHID:
            let reports = GatedReports(key.otpReportLink(), gate)
            return try await OTPService.open(HIDOTPLink(reports, environment: environment)).runtime
        case .tag:
            key.layOnReader()
            return try await TagService.open(channel(key, gate, environment)).runtime
        case .hsmAuth: return try await HSMAuthService.open(channel(key, gate, environment)).runtime
        case .openPGP: return try await OpenPGPService.open(channel(key, gate, environment)).runtime
        case .securityDomain: return try await SecurityDomainService.open(channel(key, gate, environment)).runtime
        case .card:
            let service = try CardService(channel(key, gate, environment))
            _ = try await service.select(.oath)
            return service.runtime
        }
    }

    private func channel(_ key: VirtualKey, _ gate: Gate, _ environment: ServiceEnvironment) -> sending CardChannel {
        CardChannel(link: GatedCard(key.link(), gate), environment: environment)
    }
}

/// No service blocks a thread of Swift's shared pool, not even while it is opened.
@Suite(.serialized) struct PoolTests {
    @Test(arguments: Opened.allCases)
    func othersGoOnWhileServicesAreOpened(_ service: Opened) async throws {
        // More than the pool has threads: with one of them blocked each, no task would run.
        let count = max(4, sysconf(Int32(_SC_NPROCESSORS_ONLN)) + 1)
        let gate = Gate()
        let opens = (0..<count).map { _ in Task { try await service.open(gate) } }
        await gate.await(count)
        // Each is a turn on the pool, for which a busy machine may take seconds.
        let ticks = await Task {
            var ticks = 0
            while ticks < 10, gate.waiting == count {
                ticks += 1
                await Task.yield()
            }
            return ticks
        }.value
        #expect(!gate.isForced, "the pool stood still until the links were let go")
        expect(ticks, is: 10)
        gate.open()
        for open in opens { try await expect(open.value.state, is: .open) }
    }
}
