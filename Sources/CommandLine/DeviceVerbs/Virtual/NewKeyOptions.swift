// SPDX-License-Identifier: Apache-2.0

import Arguments
import Synchronization
import TerminalIO
import Verbs
import YKTransport
import YKVirtualKey
import YKWire

/// The options of a new virtual key.
struct NewKeyOptions: ParsableArguments {
    static let title = "New Key"

    @Option(
        "--model <model>",
        help:
            "Model of a new key: yubikey, neo, yubikey4, yubikey4-fips, yubikey5-fips, yubikey-bio, security-key; a contactless card: arculus (CTAP 2.0) or arculus-p71 (CTAP 2.1); openpgp: an OpenPGP card of another vendor; gnuk: a Gnuk token; nitrokey3: a Nitrokey 3 with FIDO and Secrets.",
        completion: .list(DeviceModel.allCases.map(\.rawValue)), transform: NewKeyOptions.model)
    var model: DeviceModel = .yubiKey

    @Option("--firmware <version>", help: "The firmware version of a new key.") var firmware: String?

    @Option(
        "--fido <version>",
        help: "The CTAP version of a new key: 2.0, 2.1-pre, 2.1 or 2.3.",
        transform: NewKeyOptions.version)
    var fido: FIDOFeatures.Version?

    @Flag("--fingerprints", help: "Give a new key a fingerprint sensor.") var fingerprints = false

    @Option("--wrong-fingers <n>", help: "The number of wrong fingers before the right one.") var wrongFingers = 0

    private static func version(_ text: String) throws -> FIDOFeatures.Version {
        guard let version = FIDOFeatures.Version(rawValue: text) else {
            throw UsageError("'\(text.printable)' is not a CTAP version, expected 2.0, 2.1-pre, 2.1 or 2.3")
        }
        return version
    }

    private static func model(_ text: String) throws -> DeviceModel {
        guard let model = DeviceModel(rawValue: text) else {
            let names = DeviceModel.allCases.map(\.rawValue).listed()
            throw UsageError("'\(text.printable)' is not a model, expected one of \(names)")
        }
        return model
    }

    /// Returns the profile of a new key; `nil` without any options.
    func profile(serial: UInt32) throws -> DeviceProfile? {
        guard firmware != nil || fido != nil || fingerprints || model != .yubiKey else { return nil }
        var profile = DeviceProfile(model: model, serial: serial)
        if let firmware {
            guard let version = FirmwareVersion(firmware) else {
                throw Explanation.usage("'\(firmware.printable)' is not a firmware version, expected one like 5.7.1")
            }
            profile.version = version
            if profile.fido.version == .v21 { profile.fido.version = FIDOFeatures.Version(of: version) }
        }
        profile.fido.version = fido ?? profile.fido.version
        if fingerprints { profile.fido.hasFingerprints = true }
        return profile
    }

    /// Simulates fingers on the sensor: first the wrong ones, then the right one, each when the key is touched.
    func verify(
        _ touch: @escaping @Sendable ([UInt8]) -> VirtualInputs.Touch
    ) -> @Sendable () -> VirtualInputs.Verification {
        let left = Counter(wrongFingers)
        return {
            switch touch(Array("fingerprint".utf8)) {
            case .notTouched: .notTouched
            case .pending: .pending
            case .touched: left.takeOne() ? .wrong : .verified
            }
        }
    }

    private final class Counter: Sendable {
        private let left: Mutex<Int>
        init(_ count: Int) { left = Mutex(count) }
        func takeOne() -> Bool {
            left.withLock { left in
                guard left > 0 else { return false }
                left -= 1
                return true
            }
        }
    }
}
