// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKTransport
public import YKWire

/// The Yubico OTP application of a key: two slots that type a token when touched, or answer challenges.
///
/// Every method runs a whole exchange with the key on the service's own thread; concurrent calls never interleave.
/// Writes are verified with the key's programming sequence, so that a change that was not made is never reported as
/// made. Over a card, firmware 5.0 to 5.2.4 reports neither the sequence nor the state of the slots.
public actor OTPService: KeyService {
    /// The runtime of the service.
    public nonisolated let runtime: ServiceRuntime
    let link: any OTPLink
    private let touch: TouchWait
    private var exchanges = 1
    /// The most recent status.
    public internal(set) var status: OTPStatus

    private init(
        _ opened: sending (link: any OTPLink, status: OTPStatus), _ touch: TouchWait, _ runtime: ServiceRuntime
    ) {
        link = opened.link
        status = opened.status
        self.touch = touch
        self.runtime = runtime
    }

    /// Reads the application's status, over HID (`HIDOTPLink`) or a card (`CardOTPLink`).
    ///
    /// `touch` runs while the key waits for a touch: it is called on the service's thread, which it must not block, and
    /// its task is cancelled when the wait ends.
    ///
    /// - Throws: `card(.appletMissing)` if the card has no OTP application, or it is disabled.
    public static func open(
        _ link: sending any OTPLink, touch: @escaping @Sendable () async -> Void = {}
    ) async throws(OTPError) -> OTPService {
        try await open(link, on: nil, touch: touch)
    }

    /// The same on the runtime that the link was opened on; `nil` for a new one.
    package static func open(
        _ link: sending any OTPLink, on runtime: ServiceRuntime?, touch: @escaping @Sendable () async -> Void
    ) async throws(OTPError) -> OTPService {
        let (runtime, opened) = try await ServiceRuntime.open(link, on: runtime, { OTPError.device($0) }) {
            link, _ throws(OTPError) -> sending (link: any OTPLink, status: OTPStatus) in
            let deadline = link.environment.deadline()
            let status = try lift(OTPError.init) { () throws(OTPLinkError) in try link.status(deadline: deadline) }
            return (link, status)
        }
        return OTPService(opened, TouchWait(touch), runtime)
    }

    /// The firmware version of the application; `nil` if the key does not report it.
    public var version: FirmwareVersion? {
        status.isReliable || status.version > FirmwareVersion(0, 0, 0) ? status.version : nil
    }
    /// The transport of the application.
    public var carrier: OTPCarrier { link.carrier }

    /// Returns the reported state of a slot.
    public func state(of slot: OTPSlot) -> OTPSlotState { OTPSlotState(status, slot) }

    /// Reads the status again.
    public func refresh() throws(OTPError) {
        status = try perform { deadline throws(OTPLinkError) in try link.status(deadline: deadline) }
    }

    /// Reads the serial number.
    ///
    /// - Throws: `rejected` if the key's slots forbid it.
    public func serial() throws(OTPError) -> UInt32 {
        try require(.serial)
        return try query(.serial, [], .bytes(4)).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Reads a page of device information unchanged: a length byte, then data objects.
    public func deviceInfo(page: UInt8 = 0) throws(OTPError) -> [UInt8] { try query(.deviceInfo, [page], .counted) }

    /// Returns whether a FIPS key of series 4 is in approved mode: both slots are protected with access codes.
    public func isInFIPSMode() throws(OTPError) -> Bool {
        try require(.fipsMode)
        return try query(.fipsMode, [], .bytes(1)) == [1]
    }

    /// Lets other programs use the key until the next operation.
    public func rest() {
        link.rest()
        runtime.rest()
    }

    /// Closes the connection to the key.
    public func close() {
        link.close()
        runtime.close()
    }

    /// The number of commands sent to the key.
    public var statistics: ServiceStatistics { ServiceStatistics(exchanges: exchanges) }

    func require(_ feature: OTPFeature) throws(OTPError) {
        guard let version, !feature.isSupported(by: version) else { return }
        throw .unsupported(feature, needs: feature.firstVersion, has: version)
    }

    func query(_ command: OTPCommand, _ payload: [UInt8], _ reply: OTPReplySize) throws(OTPError) -> [UInt8] {
        try perform { deadline throws(OTPLinkError) in
            defer { touch.end() }
            return try link.query(command, payload, reply: reply, deadline: deadline, waiting: touch.begin)
        }
    }

    func write(_ command: OTPCommand, _ payload: [UInt8]) throws(OTPError) {
        status = try perform { deadline throws(OTPLinkError) in
            try link.write(command, payload, deadline: deadline)
        }
    }

    private func perform<Value>(_ body: (Deadline) throws(OTPLinkError) -> Value) throws(OTPError) -> Value {
        let deadline = link.environment.deadline()
        exchanges += 1
        return try lift(OTPError.init) { () throws(OTPLinkError) in
            try runtime.perform(OTPLinkError.device, cause: \.link) { () throws(OTPLinkError) in try body(deadline) }
        }
    }

    /// Returns the HMAC-SHA-1 of a challenge of up to 64 bytes, 20 bytes.
    ///
    /// A slot that accepts short challenges drops all trailing bytes equal to the last of 64: shorter challenges are
    /// padded so that nothing of them is lost, but one of 64 bytes loses at least its last. Other slots take 64 bytes,
    /// including trailing zeros.
    public func hmac(_ slot: OTPSlot, _ challenge: [UInt8]) throws(OTPError) -> [UInt8] {
        try checkChallenge(slot, challenge, 0...Self.hmacChallengeSize)
        let filler: UInt8 = challenge.last == 0 ? 1 : 0
        let padding = [UInt8](repeating: filler, count: Self.hmacChallengeSize - challenge.count)
        return try query(slot.command(.challengeHMAC1, .challengeHMAC2), challenge + padding, .bytes(20))
    }

    /// Returns the code of six to eight digits for a slot with the key of a TOTP account at a given time (RFC 6238 §4).
    public func code(
        _ slot: OTPSlot, at time: Int64, period: Int64 = 30, digits: Int = 6
    ) throws(OTPError) -> String {
        guard period > 0, time >= 0 else { throw .invalid(.length("period", expected: 1...Int(Int32.max), is: 0)) }
        guard (6...8).contains(digits) else { throw .invalid(.length("code", expected: 6...8, is: digits)) }
        var writer = ByteWriter(capacity: 8)
        writer.bigEndian(UInt64(time / period), 8)
        return Self.truncated(try hmac(slot, writer.bytes), digits: digits)
    }

    /// Returns the Yubico OTP block for a challenge of six bytes: 16 bytes, whose first six are the challenge after
    /// decryption.
    public func challengeOTP(_ slot: OTPSlot, _ challenge: [UInt8]) throws(OTPError) -> [UInt8] {
        try checkChallenge(slot, challenge, 6...6)
        return try query(slot.command(.challengeOTP1, .challengeOTP2), challenge, .bytes(16))
    }

    /// Maximum length of an HMAC challenge, in bytes.
    public static let hmacChallengeSize = 64

    /// The decimal digits of an HMAC (RFC 4226 §5.3).
    public static func truncated(_ hmac: [UInt8], digits: Int) -> String {
        let offset = Int((hmac.last ?? 0) & 0x0F)
        let number = hmac.dropFirst(offset).prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let modulus = (0..<min(9, max(1, digits))).reduce(UInt32(1)) { value, _ in value * 10 }
        let text = String(number % modulus)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }

    private func checkChallenge(
        _ slot: OTPSlot, _ challenge: [UInt8], _ expected: ClosedRange<Int>
    ) throws(OTPError) {
        try require(.challengeResponse)
        guard expected.contains(challenge.count) else {
            throw .invalid(.length("challenge", expected: expected, is: challenge.count))
        }
        let state = state(of: slot)
        guard state.isProgrammed != false else { throw .emptySlot(slot) }
        guard state.isTouchTriggered != true else { throw .notChallengeResponse(slot) }
    }

    /// Writes a slot, replacing its content.
    ///
    /// - Throws: `unsupported` or `invalid` before anything is sent, `rejected` if the access code is wrong.
    public func program(
        _ slot: OTPSlot, _ content: OTPSlotContent, _ settings: OTPSettings? = nil, access: OTPAccess = .none
    ) throws(OTPError) {
        let settings = settings ?? (content.isTyped ? OTPSettings() : .challengeResponse)
        if let feature = content.feature { try require(feature) }
        for feature in settings.features { try require(feature) }
        var new = OTPAccessCode.bytes(access.new)
        var record = try content.record(settings, accessCode: new)
        defer {
            Secret.wipe(&new)
            Secret.wipe(&record)
        }
        try write(slot.command(.configure1, .configure2), record, access.current)
        try check(slot, isProgrammed: true)
    }

    /// Updates how a slot types, and its access code, without changing its content.
    ///
    /// - Throws: `rejected` for a slot that does not allow updates, or is empty.
    public func update(
        _ slot: OTPSlot, _ settings: OTPSettings, access: OTPAccess = .none
    ) throws(OTPError) {
        for feature in [.update] + settings.features { try require(feature) }
        if !OTPAccessCode.areSame(access.current, access.new) { try require(.accessCodeUpdate) }
        guard state(of: slot).isProgrammed != false else { throw .emptySlot(slot) }
        var new = OTPAccessCode.bytes(access.new)
        defer { Secret.wipe(&new) }
        var record = try lift({ OTPError.invalid(.format($0)) }) { () throws(WireError) in
            try OTPSlotRecord(
                accessCode: new, extended: settings.extended,
                ticket: settings.ticket.intersection(.updatable), configuration: settings.configuration
            ).encoded
        }
        defer { Secret.wipe(&record) }
        try write(slot.command(.update1, .update2), record, access.current)
    }

    /// Deletes the content of a slot.
    public func delete(_ slot: OTPSlot, access code: OTPAccessCode? = nil) throws(OTPError) {
        try write(slot.command(.configure1, .configure2), OTPSlotRecord.empty, code)
        try check(slot, isProgrammed: false)
    }

    /// Swaps the contents of the slots.
    public func swap() throws(OTPError) {
        try require(.swap)
        try write(.swap, [], nil)
    }

    /// Writes the NDEF record that the key sends over NFC, and the slot whose token it ends with.
    public func setNDEF(
        _ record: OTPNDEFRecord, for slot: OTPSlot, access code: OTPAccessCode? = nil
    ) throws(OTPError) {
        try require(.ndef)
        let bytes = try lift({ OTPError.invalid(.format($0)) }) { () throws(WireError) in try record.encoded() }
        try write(slot.command(.ndef1, .ndef2), bytes, code)
    }

    /// Writes the 45 scan codes that tokens are typed with: the sixteen modhex letters, the same in upper case, the
    /// digits, the exclamation mark, Tab and Enter. `nil` restores the default.
    public func setScanCodeMap(_ codes: [UInt8]?, access code: OTPAccessCode? = nil) throws(OTPError) {
        try require(.scanCodeMap)
        let codes = codes ?? Self.usualScanCodes
        guard codes.count == Self.scanCodeMapSize else {
            let all = Self.scanCodeMapSize...Self.scanCodeMapSize
            throw .invalid(.length("scan-code map", expected: all, is: codes.count))
        }
        try write(.scanCodeMap, codes, code)
    }

    /// The number of scan codes in a map.
    public static let scanCodeMapSize = 45

    /// The default scan codes.
    public static let usualScanCodes: [UInt8] = {
        let letters: [UInt8] = Modhex.alphabet.utf8.map { $0 - 0x61 + 0x04 }
        let digits: [UInt8] = [0x27] + Array(0x1E...0x26)
        return letters + letters.map { $0 | KeyboardLayout.shift } + digits + [0x1E | KeyboardLayout.shift, 0x2B, 0x28]
    }()

    /// Sends the data to write, followed by the slot's current access code.
    private func write(_ command: OTPCommand, _ bytes: [UInt8], _ code: OTPAccessCode?) throws(OTPError) {
        var payload = bytes + OTPAccessCode.bytes(code)
        defer { Secret.wipe(&payload) }
        try write(command, payload)
    }

    private func check(_ slot: OTPSlot, isProgrammed: Bool) throws(OTPError) {
        guard state(of: slot).isProgrammed ?? isProgrammed == isProgrammed else { throw .notStored(slot) }
    }
}
