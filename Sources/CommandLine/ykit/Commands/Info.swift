// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKKeys
import YKManagement
import YKOATH
import YKTransport
import YKWire

/// Shows what a key is and what it supports.
struct Info: Verb {
    static let about = About(
        "info",
        "Show what a key is, its applications, the state of OATH, and known flaws of its firmware.",
        discussion:
            "Over a card where there is one, else over the FIDO interface; choose with --link pcsc or --link hid.",
        members: InfoReport.members)

    @Flag("--check-fips", help: "Ask a YubiKey FIPS of the 4 series whether it is in its FIPS mode.")
    var checkFips = false

    func answer(in world: World) async throws -> Answer {
        var report = try await report(in: world)
        if checkFips {
            guard let info = report.identity.info, info.version.major == 4, info.isFIPSSeries else {
                throw Explanation(
                    "not-supported", .notSupported, "--check-fips is for a YubiKey FIPS of the 4 series",
                    hint: "for later keys ykit info tells it without being asked")
            }
            report.fipsMode = try FIPSMode.isOn(try world.keys.fidoLink())
        }
        return report.answer
    }

    private func report(in world: World) async throws -> InfoReport {
        var report: InfoReport
        switch try world.choosingKey({ try $0.managementRoute() }) {
        case .card:
            let channel = try world.connect()
            let card = channel.identity
            report = InfoReport(try DeviceIdentity.read(channel))
            report.reader = card.reader
            if report.identity.info == nil {
                report.isContactless = (try? ATR(decoding: card.atr))?.contactless != nil
                let (found, untold) = try CardApplications.found(on: channel)
                report.found = found
                report.untold = untold
            }
            report.oath = try await Self.oath(channel, &report)
        case .fido(let path):
            let device = world.keys.reportIdentity(at: path)
            report = InfoReport(try DeviceIdentity.read(fido: try world.keys.fidoLink(), device))
            report.path = device.path
        case .keyboard(let path):
            report = InfoReport(
                try DeviceIdentity.read(otp: try world.keys.keyboard(path), world.keys.reportIdentity(at: path)))
            report.path = path
        }
        return report
    }

    /// The information about OATH; `nil` for a key without it, and one that does not report it.
    private static func oath(_ channel: sending CardChannel, _ report: inout InfoReport) async throws -> OATHInfo? {
        do { return await (try OATHService.open(channel)).info } catch {
            switch error {
            case .card(.appletMissing): break
            case .card(.link(.replay)): report.untold.formUnion(.oath)
            case .card(.link), .card(.secureChannel): throw error
            default: report.oathProblem = error
            }
            return nil
        }
    }
}
