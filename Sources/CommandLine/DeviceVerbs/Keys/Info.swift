// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
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
        examples: [Example("ykit info"), Example("ykit info --json")])

    @Flag("--check-fips", help: "Ask a YubiKey FIPS of the 4 series whether it is in its FIPS mode.")
    var checkFips = false

    func run(in world: World) async throws -> Outcome<KeyReport> {
        var report = try await KeyReport.read(in: world)
        if checkFips {
            guard let info = report.identity.info, info.version.major == 4, info.isFIPSSeries else {
                throw Explanation(
                    "not-supported", .notSupported, "--check-fips is for a YubiKey FIPS of the 4 series",
                    hint: "later keys report it in ykit info")
            }
            report.isInFIPSMode = try FIPSMode.isOn(try world.keys.fidoLink())
        }
        return report.outcome
    }
}

extension KeyReport {
    /// Reads the selected key, as a card where it is one.
    static func read(in world: World) async throws -> KeyReport {
        switch try world.choosingKey({ try $0.managementRoute() }) {
        case .card: return try await KeyReport.read(try world.connect())
        case .fido(let path):
            let device = world.keys.reportIdentity(at: path)
            return KeyReport(
                try DeviceIdentity.read(fido: try world.keys.fidoLink(), device), path: device.path)
        case .keyboard(let path):
            let device = world.keys.reportIdentity(at: path)
            return KeyReport(try DeviceIdentity.read(otp: try world.keys.keyboard(path), device), path: path)
        }
    }
}
