// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

extension DeviceInfo {
    /// The product name, as far as the reported fields determine it.
    public var productName: String {
        if family == .plus { return "YubiKey Plus" }
        if family == .standard { return "YubiKey Standard" }
        if isSecurityKeySeries, (1...4).contains(version.major) { return oldSecurityKeyName }
        return switch version.major {
        case 0: "YubiKey (\(version))"
        case 1, 2: "YubiKey"
        case 3: "YubiKey NEO"
        case 4: fourName
        default: isPreview ? "YubiKey Preview" : isSecurityKeySeries ? securityKeyName : fiveName
        }
    }

    private var oldSecurityKeyName: String {
        usb.supported.contains(.fido2) ? securityKeyName : "FIDO U2F Security Key"
    }

    private var fourName: String {
        if version >= FirmwareVersion(4, 4, 0), version < FirmwareVersion(4, 5, 0) { return "YubiKey FIPS (4 Series)" }
        return usb.supported == [.otp, .u2f] ? "YubiKey Edge" : "YubiKey 4"
    }

    private var isPreview: Bool {
        let ranges = [
            FirmwareVersion(5, 0, 0)..<FirmwareVersion(5, 1, 0), FirmwareVersion(5, 2, 0)..<FirmwareVersion(5, 2, 3),
            FirmwareVersion(5, 5, 0)..<FirmwareVersion(5, 5, 2),
        ]
        return ranges.contains { $0.contains(version) }
    }

    private var isTypeC: Bool { [.usbCKeychain, .usbCNano, .usbCBio].contains(formFactor) }

    private var securityKeyName: String {
        var words = [isTypeC ? "Security Key C" : "Security Key"]
        if nfc != nil { words.append("NFC") }
        if serial != nil { words.append("- Enterprise Edition") }
        return words.listed(by: " ")
    }

    private var fiveName: String {
        if formFactor.isBio { return bioName }
        var words = ["YubiKey 5" + connector]
        if formFactor.isNano { words.append("Nano") } else if nfc != nil { words.append("NFC") }
        if isFIPSSeries { words.append("FIPS") } else if requiresComplexPIN { words.append("- Enhanced PIN") }
        return words.listed(by: " ")
    }

    private var connector: String {
        if isTypeC { return "C" }
        if formFactor == .usbCLightning { return "Ci" }
        return formFactor == .usbAKeychain && nfc == nil ? "A" : ""
    }

    private var bioName: String {
        let name = isTypeC ? "YubiKey C Bio" : "YubiKey Bio"
        if isFIPSSeries { return name + " FIPS" }
        if usb.supported.contains(.piv) { return name + " - Multi-protocol Edition" }
        return usb.supported.isDisjoint(with: [.otp, .oath, .openPGP, .hsmAuth]) ? name + " - FIDO Edition" : name
    }
}

extension DeviceInfo {
    /// The names of the secure channel protocols that this firmware has; empty before 5.3 and for the Security Key series.
    public var secureChannels: [String] {
        guard version >= FirmwareVersion(5, 3, 0), !isSecurityKeySeries else { return [] }
        return version >= FirmwareVersion(5, 7, 2) ? ["SCP03", "SCP11a", "SCP11b", "SCP11c"] : ["SCP03"]
    }
}
