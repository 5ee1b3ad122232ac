// SPDX-License-Identifier: Apache-2.0

import YKProtocols
package import YKTransport
import YKWire

/// The management of a key over any transport.
package final class ManagementSession {
    package let carrier: any ManagementCarrier
    /// The USB product, if known.
    private let product: USBProduct?

    /// Maximum number of pages.
    private static let pageLimit = 16

    package init(_ carrier: any ManagementCarrier, product: USBProduct? = nil) {
        self.carrier = carrier
        self.product = product
    }

    /// Selects the management application of a card.
    package convenience init(_ channel: CardChannel) throws(ManagementError) {
        self.init(try CardCarrier(channel), product: USBProduct(reader: channel.identity.reader))
    }

    /// Takes over a link to the FIDO interface of a key.
    package convenience init(_ link: any FIDOLink, product: USBProduct? = nil) {
        self.init(FIDOCarrier(link), product: product)
    }

    /// Takes over a link to the OTP interface of a key.
    package convenience init(otp link: any OTPLink, product: USBProduct? = nil) throws(ManagementError) {
        self.init(try KeyboardCarrier(link), product: product)
    }

    package var version: FirmwareVersion { carrier.version }

    package func deviceInfo() throws(ManagementError) -> DeviceInfo {
        try deviceInfo { error throws(ManagementError) in throw error }
    }

    /// Reads the device information; if a page after the first one cannot be read, those before it are used.
    ///
    /// - Parameter skipping: Called with the error; throwing from it ends the reading.
    func deviceInfo(
        skipping: (ManagementError) throws(ManagementError) -> Void
    ) throws(ManagementError) -> DeviceInfo {
        var info = try rawInfo(skipping)
        info.correct(for: product)
        return info
    }

    private func rawInfo(
        _ skipping: (ManagementError) throws(ManagementError) -> Void
    ) throws(ManagementError) -> DeviceInfo {
        guard version >= FirmwareVersion(4, 1, 0) || version.major == 0 else {
            return try carrier.olderKey(product, skipping)
        }
        var objects: [TLV] = []
        var left = 1
        var number: UInt8 = 0
        while left > 0 {
            do throws(ManagementError) {
                let page = try page(number)
                objects += page.objects
                left = page.more.map(Int.init) ?? left - 1
            } catch {
                guard number > 0, error.isAnswer || error.isUnrecorded else { throw error }
                try skipping(error)
                left = 0
            }
            number += 1
        }
        return try reading { () throws(WireError) in try DeviceInfo(objects, selected: version) }
    }

    private func page(_ number: UInt8) throws(ManagementError) -> InfoPage {
        guard number < Self.pageLimit else { throw .endlessInfo }
        let bytes = try carrier.readPage(number)
        return try reading { () throws(WireError) in try InfoPage(bytes) }
    }

    private func reading<Value>(_ body: () throws(WireError) -> Value) throws(ManagementError) -> Value {
        try lift({ ManagementError.malformed($0, during: ReadConfig.name) }, body)
    }

    /// Writes the changes, reads them back, and restarts the key if necessary.
    package func write(
        _ configuration: DeviceConfiguration, unlock: borrowing LockCode?
    ) throws(ManagementError) -> ConfigurationOutcome {
        let before = try deviceInfo()
        try configuration.check(before)
        try checkLock(before, hasCode: unlock != nil)
        try send(configuration.objects, unlock: unlock, lock: nil)
        let after = try infoAfterChange()
        var outcome = ConfigurationOutcome(
            info: after, unconfirmed: configuration.differences(from: after),
            restarts: configuration.needsRestart(before))
        guard outcome.restarts else { return outcome }
        outcome.restarts = try restart(unlock: unlock)
        return outcome
    }

    private func infoAfterChange() throws(ManagementError) -> DeviceInfo {
        do { return try deviceInfo() } catch { throw .unchecked(error) }
    }

    /// Requests a restart; false if the key does not support it and must be plugged in again.
    private func restart(unlock: borrowing LockCode?) throws(ManagementError) -> Bool {
        do {
            try send([TLV(ManagementProtocol.Tag.reboot, [])], unlock: unlock, lock: nil)
            return true
        } catch {
            if error.meansGone { return true }
            if error.isRefusal { return false }
            throw error
        }
    }

    /// Sets, changes or, with a code of zeros, clears the lock code.
    package func setLockCode(
        _ new: borrowing LockCode, unlock: borrowing LockCode?
    ) throws(ManagementError) -> DeviceInfo {
        let before = try deviceInfo()
        try DeviceConfiguration().check(before)
        try checkLock(before, hasCode: unlock != nil)
        try send([], unlock: unlock, lock: new.bytes)
        let after = try infoAfterChange()
        guard after.isLocked != new.clears else { throw .notWritten(["the lock code"]) }
        return after
    }

    private func checkLock(_ info: DeviceInfo, hasCode: Bool) throws(ManagementError) {
        if info.isLocked, !hasCode { throw .locked }
        if !info.isLocked, hasCode { throw .notLocked }
    }

    private func send(_ objects: [TLV], unlock: borrowing LockCode?, lock: [UInt8]?) throws(ManagementError) {
        var content = objects
        var hasCode = false
        switch unlock {
        case .some(let code):
            content.insert(TLV(ManagementProtocol.Tag.unlockCode, code.bytes), at: 0)
            hasCode = true
        case nil: break
        }
        if let lock { content.append(TLV(ManagementProtocol.Tag.lockCode, lock)) }
        let bytes = content.encoded
        do { try carrier.write([UInt8(truncatingIfNeeded: bytes.count)] + bytes) } catch {
            throw hasCode && error.isRefusal ? .wrongLockCode : error
        }
    }

    /// Sets the USB mode of a key before firmware 5, or the closest application configuration of a later one. It takes
    /// effect when the key is plugged in again.
    package func setMode(_ mode: USBMode, timeouts: ModeTimeouts) throws(ManagementError) {
        guard timeouts.autoEject == nil || mode.interfaces == .ccid else { throw .touchEjectNeedsCCID }
        let info = try deviceInfo()
        guard mode.interfaces.isSubset(of: info.usb.supported.usbInterfaces) else {
            throw .noSuchMode(mode, has: info.usb.supported.usbInterfaces)
        }
        guard version.major >= 5 else { return try carrier.setMode(timeouts.encoded(mode)) }
        var configuration = DeviceConfiguration()
        configuration.usbEnabled = info.usb.supported.limited(to: mode.interfaces)
        configuration.autoEjectTimeout = timeouts.autoEject
        configuration.challengeResponseTimeout = timeouts.challengeResponse
        try configuration.check(info)
        try checkLock(info, hasCode: false)
        try send(configuration.objects, unlock: nil, lock: nil)
        let wrong = configuration.differences(from: try infoAfterChange())
        guard wrong.isEmpty else { throw .notWritten(wrong) }
    }

    /// Resets the whole key, if it supports that.
    package func reset() throws(ManagementError) {
        let info = try deviceInfo()
        guard info.canResetWhole else { throw .noWholeReset }
        try carrier.reset()
    }
}
