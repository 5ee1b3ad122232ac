// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKWire

extension OTPService {
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
