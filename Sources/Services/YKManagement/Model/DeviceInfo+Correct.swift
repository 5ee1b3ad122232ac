// SPDX-License-Identifier: Apache-2.0

import YKTransport

extension DeviceInfo {
    /// Corrects fields that keys are known to report incorrectly or omit (as observed with ykman 5.9.2).
    mutating func correct(for product: USBProduct?) {
        family = product?.family
        if version.major < 5, version.major > 0 { correctOld(product) }
        if product?.family == .securityKey { isSecurityKeySeries = true }
        if version >= FirmwareVersion(4, 4, 0), version < FirmwareVersion(4, 5, 0) { isFIPSSeries = true }
        // These form factors have no NFC antenna, whatever they report.
        let hasNoNFC =
            formFactor.isNano || formFactor == .usbCLightning
            || formFactor == .usbCKeychain && version.major == 5 && version < FirmwareVersion(5, 2, 4)
        if hasNoNFC { nfc = nil }
    }

    /// Keys before firmware 5 enable interfaces, not applications; the USB product number holds the enabled interfaces.
    /// An Edge has a smart card interface without applications.
    private mutating func correctOld(_ product: USBProduct?) {
        let isEdge = usb.supported == [.otp, .u2f, .ccid]
        if isEdge { usb.supported = [.otp, .u2f] }
        usb.enabled = usb.supported
        if let product { usb.enabled = usb.supported.limited(to: product.interfaces) }
    }

    /// Whether all applications are reset together: keys with a fingerprint sensor and more than FIDO.
    public var canResetWhole: Bool { formFactor.isBio && usb.supported.contains(.piv) }
}
