// SPDX-License-Identifier: Apache-2.0

import Arguments
import Glibc
import Synchronization
import TerminalIO
import Verbs
import YKTransport
import YKVirtualKey
import YKWire

/// Commands for virtual keys.
struct VirtualGroup: ParsableCommand {
    static let about = About(
        "A security key in software, for tests.",
        subcommands: ["new": VirtualNew.self, "serve": VirtualServe.self],
        examples: [Example("ykit virtual new key.json")])
}

/// Creates a virtual key in a file.
struct VirtualNew: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "Create a virtual key in a new file.",
        discussion: "To use it: ykit --virtual FILE …, or ykit virtual serve --vpcd --state FILE",
        examples: [
            Example("ykit virtual new test.json"), Example("ykit virtual new security-key.json --model security-key"),
        ])
    typealias Reported = (file: String, model: String, serial: UInt32)
    static let answer = Shape<Reported>(
        Member("file") { $0.file }, Member("model") { $0.model }, Member("serial") { String($0.serial) })

    @OptionGroup var new: NewKeyOptions

    @Argument("file", help: "The new file.", completion: .file) var file: String

    func run(in run: Run) async throws -> Outcome<Reported> {
        guard access(file, F_OK) != 0 else {
            throw Explanation.exists(file)
        }
        let serial = UInt32.random(in: 10_000_000...99_999_999)
        let profile = try new.profile(serial: serial) ?? DeviceProfile(serial: serial)
        let key = try VirtualKey(file: file, profile: profile)
        let model = key.state.profile.model.rawValue
        return Outcome(
            (file: file, model: model, serial: serial),
            "\(file.printable): a new \(model), serial \(serial)")
    }
}

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
