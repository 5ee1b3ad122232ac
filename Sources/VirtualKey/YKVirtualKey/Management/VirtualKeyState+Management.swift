// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKCrypto
import YKProtocols
import YKTransport
package import YKWire

extension VirtualKeyState {
    private typealias Tag = ManagementProtocol.Tag
    private typealias QualifierTag = ManagementProtocol.QualifierTag

    /// A page of device information: a length byte, then data objects; `nil` if the page does not exist.
    func managementPage(_ number: UInt8) -> [UInt8]? {
        guard profile.version >= FirmwareVersion(4, 1, 0) else { return nil }
        let pages =
            profile.version >= FirmwareVersion(5, 7, 0)
            ? [five + [TLV(Tag.moreData, [1])], more] : [profile.version.major == 4 ? four : five]
        guard pages.indices.contains(Int(number)) else { return nil }
        let content = pages[Int(number)].encoded
        return [UInt8(truncatingIfNeeded: content.count)] + content
    }

    /// WRITE CONFIG (firmware 5 and later); applied completely or not at all.
    mutating func writeManagement(_ bytes: [UInt8]) throws(Refusal) {
        guard profile.version.major >= 5 else { throw .status(.unknownInstruction) }
        guard bytes.count == 1 + Int(bytes.first ?? 0), let objects = try? TLV.list(Array(bytes.dropFirst())),
            Set(objects.map(\.tag)).count == objects.count
        else { throw .status(.wrongLength) }
        // A lock code of zeros stands for no code.
        let none = [UInt8](repeating: 0, count: 16)
        guard constantTimeEqual(objects.value(Tag.unlockCode) ?? none, management.lockCode ?? none) else {
            throw .status(.securityStatusNotSatisfied)
        }
        var changed = management
        var isRestarting = false
        for object in objects {
            switch object.tag {
            case Tag.unlockCode: continue
            case Tag.reboot: isRestarting = true
            default: try take(object, &changed)
            }
        }
        management = changed
        managementPower.isRestarting = isRestarting
    }

    private func take(_ object: TLV, _ memory: inout ManagementMemory) throws(Refusal) {
        let value = object.value
        switch (object.tag, value.count) {
        case (Tag.usbEnabled, 1...2):
            let bits = value.number
            guard bits & ~profile.applications == 0, bits != 0 else { throw .status(.wrongParameters) }
            memory.usbEnabled = bits
        case (Tag.nfcEnabled, 1...2) where profile.hasNFC:
            guard value.number & ~profile.applications == 0 else { throw .status(.wrongParameters) }
            memory.nfcEnabled = value.number
        case (Tag.autoEject, 1...2): memory.autoEject = UInt16(truncatingIfNeeded: value.number)
        case (Tag.challengeResponseTimeout, 1): memory.challengeResponse = value[0]
        case (Tag.flags, 1): memory.flags = value[0]
        case (Tag.lockCode, 16): memory.lockCode = value.allSatisfy { $0 == 0 } ? nil : value
        case (Tag.nfcRestricted, 1) where profile.hasNFC && profile.version >= FirmwareVersion(5, 7, 0):
            memory.isNFCRestricted = value[0] != 0
        default: throw .status(.wrongParameters)
        }
    }

    /// SET MODE (before firmware 5): mode, seconds for challenge-response, seconds until ejection.
    package mutating func setMode(_ bytes: [UInt8]) throws(Refusal) {
        guard profile.version.major == 3 || profile.version.major == 4 else { throw .status(.unknownInstruction) }
        guard bytes.count == 4 else { throw .status(.wrongLength) }
        let mode = bytes[0] & 7
        guard mode < 7, VirtualCapability.modes[Int(mode)] & ~VirtualCapability.interfaces(profile.applications) == 0
        else { throw .status(.wrongParameters) }
        // A slot's access code protects the mode, too (ykman #273, firmware 4.3.4).
        guard otp.slots.allSatisfy({ $0?.accepts(OTPSlotRecord.noAccessCode) ?? true }) else {
            throw .status(.conditionsNotSatisfied)
        }
        management.mode = mode
        management.flags = bytes[0] & 0x80
        management.challengeResponse = bytes[1]
        management.autoEject = UInt16(bytes[3]) << 8 | UInt16(bytes[2])
    }

    /// RESET DEVICE of a key with a fingerprint sensor: resets its applications.
    mutating func resetDevice() throws(Refusal) {
        guard profile.isBio, profile.version.major >= 5 else { throw .status(.unknownInstruction) }
        piv = piv.afterReset(profile)
        fido = fido.afterReset
        oath = OATHMemory(salt: oath.salt)
        otp = OTPMemory()
    }

    /// The applications with a FIPS-approved mode: FIDO2 1, PIV 2, OpenPGP 4, OATH 8, HSM Auth 16.
    private var fipsCapable: UInt8 { profile.isFIPS ? 0x1F : 0 }

    /// The applications in FIPS-approved mode: FIDO2 with a PIN, PIV and OpenPGP without default secrets, OATH with an
    /// access key, HSM Auth without the default management key.
    private var fipsApproved: UInt8 {
        guard profile.isFIPS else { return 0 }
        let isApproved = [
            fido.pinHash != nil, piv.hasOwnSecrets, !openPGP.usesDefaultPINs, oath.accessKey != nil,
            hsmAuth.managementKey != HSMAuthMemory.defaultManagementKey,
        ]
        return isApproved.enumerated().reduce(0) { $0 | ($1.element ? 1 << UInt8($1.offset) : 0) }
    }

    /// The applications that cannot be reset on their own because the other one is in use, on a key with PIV and
    /// fingerprints.
    package var resetBlocked: UInt32 {
        guard profile.isBio, profile.applications & VirtualCapability.piv != 0 else { return 0 }
        let isPIVInUse = piv.afterReset(profile) != piv
        let isFIDOInUse = fido.pinHash != nil
        return (isFIDOInUse ? VirtualCapability.piv : 0) | (isPIVInUse ? VirtualCapability.fido2 : 0)
    }

    private func word(_ bits: UInt32) -> [UInt8] {
        [UInt8(truncatingIfNeeded: bits >> 8), UInt8(truncatingIfNeeded: bits)]
    }

    private var serialObject: [TLV] {
        guard !profile.isSecurityKey else { return [] }
        return [TLV(Tag.serial, (0..<4).map { UInt8(truncatingIfNeeded: profile.serial >> (24 - 8 * $0)) })]
    }

    private var four: [TLV] {
        let bits = [UInt8(truncatingIfNeeded: profile.applications)]
        return [TLV(Tag.usbSupported, bits)] + serialObject + [TLV(Tag.usbEnabled, bits)]
    }

    private var five: [TLV] {
        let near =
            profile.hasNFC
            ? [
                TLV(Tag.nfcSupported, word(profile.applications)),
                TLV(Tag.nfcEnabled, word(management.nfcEnabled ?? profile.applications)),
            ] : []
        return [TLV(Tag.usbSupported, word(profile.applications))] + serialObject
            + [
                TLV(Tag.usbEnabled, word(enabled(over: .usb))), TLV(Tag.formFactor, [profile.formFactor]),
                TLV(Tag.version, profile.version.bytes),
                TLV(Tag.autoEject, word(UInt32(management.autoEject))),
                TLV(Tag.challengeResponseTimeout, [management.challengeResponse]),
                TLV(Tag.flags, [management.flags]),
            ] + near + [TLV(Tag.lockCode, [management.lockCode == nil ? 0 : 1]), TLV(Tag.iapDetection, [0])]
    }

    private var more: [TLV] {
        let qualifier = [
            TLV(QualifierTag.version, profile.version.bytes), TLV(QualifierTag.kind, [2]),
            TLV(QualifierTag.iteration, [0]),
        ].encoded
        return [
            TLV(Tag.partNumber, Array("YKIT-VIRT".utf8)), TLV(Tag.fipsCapable, [0, fipsCapable]),
            TLV(Tag.fipsApproved, [0, fipsApproved]),
            TLV(Tag.pinComplexity, [profile.requiresComplexPIN ? 1 : 0]),
            TLV(Tag.nfcRestricted, [management.isNFCRestricted ? 1 : 0]),
            TLV(Tag.resetBlocked, word(resetBlocked)), TLV(Tag.versionQualifier, qualifier),
        ]
    }
}

extension [UInt8] {
    /// A big-endian number.
    fileprivate var number: UInt32 { reduce(0) { $0 << 8 | UInt32($1) } }
}

extension VirtualKey {
    /// Executes a vendor command of FIDO HID: READ CONFIG (42), WRITE CONFIG (43) and SET MODE (40) of Yubico's
    /// management; rejects all others.
    package func manage(_ message: CTAPHID.Message) -> VirtualHID.Outcome {
        guard state.profile.model.applets == nil else { return tunnel(message) }
        let outcome = try? change { key throws(Refusal) in
            switch message.command.rawValue {
            case FIDOProtocol.Vendor.setMode: try key.setMode(message.payload)
            case FIDOProtocol.Vendor.readConfig:
                guard let page = key.managementPage(message.payload.first ?? 0) else {
                    throw .status(.wrongParameters)
                }
                return page
            case FIDOProtocol.Vendor.writeConfig: try key.writeManagement(message.payload)
            default: throw .status(.unknownInstruction)
            }
            return []
        }
        switch outcome {
        case .answer(let bytes): return .answer(bytes)
        case .refused(let status): return .refused(Self.code(of: status))
        case .waiting, .computing, nil: return .refused(.other)
        }
    }

    private static func code(of status: StatusWord) -> CTAPHID.ErrorCode {
        switch status {
        case .unknownInstruction: .invalidCommand
        case .wrongLength: .invalidLength
        default: .invalidParameter
        }
    }

    /// Returns whether the key was told to restart since the last call; the server then unplugs it for a moment.
    package func takeRestart() -> Bool {
        body.withLock { body in
            defer { body.card.state.managementPower.isRestarting = false }
            return body.card.state.managementPower.isRestarting
        }
    }

    /// Plugs the key into a USB port, which lifts its NFC restriction. A key whose profile has no port stays where it is.
    public func plugIn() {
        guard state.profile.transport == .usb else { return }
        if isOnReader { body.withLock { $0.card = VirtualCard($0.card.state) } }
        guard state.management.isNFCRestricted else { return }
        _ = try? change { key throws(Refusal) in
            key.management.isNFCRestricted = false
            return []
        }
    }

    /// Whether the key is on a contactless reader.
    package var isOnReader: Bool { body.withLock { $0.card.isOnReader } }

    /// Puts the key on a contactless reader, where it is a tag (``plugIn()`` takes it back): it loses power, and links
    /// made after that are to the reader.
    public func layOnReader() { body.withLock { $0.card = VirtualCard($0.card.state, isOnReader: true) } }
}
