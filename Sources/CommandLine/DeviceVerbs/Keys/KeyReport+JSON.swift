// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
import Verbs
package import YKKeys
import YKManagement
import YKOATH
import YKTransport
import YKWire

/// The answer of `ykit info`. Values that the key does not report are null.
extension KeyReport: Report {
    package static let members: [Member<KeyReport>] = identityMembers + stateMembers + settingMembers + foundMembers

    private static let identityMembers: [Member<KeyReport>] = [
        Member("name") { KeyDetails($0.identity).name },
        Member("manufacturer") { $0.identity.maker.rawValue },
        Member("serial") { KeyDetails($0.identity).serial },
        Member("firmware") { KeyDetails($0.identity).version },
        Member("reader", "of a key that was read as a card") { $0.reader },
        Member("path", "of a key that was read over HID") { $0.path },
        Member("formFactor") { $0.identity.info?.formFactor.description },
        Member("applications") { $0.applications },
    ]

    private static let stateMembers: [Member<KeyReport>] = [
        Member("locked", "whether the configuration is locked by a code") { $0.identity.info?.isLocked },
        Member("fipsSeries") { $0.identity.info?.isFIPSSeries },
        Member("securityKeySeries") { $0.identity.info?.isSecurityKeySeries },
        Member("partNumber") { $0.identity.info?.partNumber },
        Member("fipsCapable", "applications") { $0.identity.info?.fipsCapable.names },
        Member("fipsApproved", "applications") { $0.identity.info?.fipsApproved.names },
        Member("fipsMode", "with --check-fips") { $0.isInFIPSMode },
        Member("complexPin", "whether simple PINs are refused") { $0.identity.info?.requiresComplexPIN },
        Member("resetBlocked", "applications") { $0.identity.info?.resetBlocked.names },
    ]

    private static let settingMembers: [Member<KeyReport>] = [
        Member("flags", "remote-wakeup and touch-eject") { $0.identity.info?.flagNames },
        Member("autoEjectTimeout", "in seconds") { $0.identity.info?.autoEjectTimeout.components.seconds },
        Member("challengeResponseTimeout", "in seconds") {
            $0.identity.info?.challengeResponseTimeout.components.seconds
        },
        Member("nfcRestricted", "whether NFC is off until the key is in a USB port") {
            $0.identity.info?.isNFCRestricted
        },
    ]

    private static let foundMembers: [Member<KeyReport>] = [
        Member("fingerprintVersion", "of the sensor") { $0.identity.info?.fingerprintVersion?.description },
        Member("stmVersion") { $0.identity.info?.stmVersion?.description },
        Member("synthesized", "whether the applications were probed one by one") { $0.identity.info?.isSynthesized },
        Member("flaws", "of the firmware") { $0.identity.info.map { KnownFlaw.of($0) } },
        Member("oath") { $0.oath.map(OATHSummary.init) },
        Member("secureChannels", "protocols") { $0.identity.info?.secureChannels },
    ]

    /// The applications by transport; for a card that does not list them, those found by probing.
    private var applications: [ApplicationState]? {
        if let info = identity.info { return ApplicationState.all(usb: info.usb, nfc: info.nfc) }
        guard let found else { return nil }
        let there = DeviceInfo.Applications(supported: found, enabled: found)
        return ApplicationState.all(usb: isContactless ? nil : there, nfc: isContactless ? there : nil)
    }
}

/// An application of a key, by transport.
private struct ApplicationState: Report {
    let name: String
    let usb: String?
    let nfc: String?

    static let members: [Member<ApplicationState>] = [
        Member("name") { $0.name },
        Member("usb", "enabled or disabled, null if the key does not have it there") { $0.usb },
        Member("nfc", "the same") { $0.nfc },
    ]

    static func all(usb: DeviceInfo.Applications?, nfc: DeviceInfo.Applications?) -> [ApplicationState] {
        Capability.applications.map { capability, name in
            ApplicationState(
                name: name, usb: KeyReport.state(capability, usb), nfc: KeyReport.state(capability, nfc))
        }
    }
}

/// The state of OATH.
private struct OATHSummary: Report {
    let info: OATHInfo

    static let members: [Member<OATHSummary>] = [
        Member("version") { $0.info.version?.description },
        Member("deviceId") { $0.info.deviceID },
        Member("hasPassword") { $0.info.hasPassword },
    ]
}

extension DeviceInfo {
    fileprivate var flagNames: [String] {
        [(Flags.remoteWakeUp, "remote-wakeup"), (.touchEject, "touch-eject")]
            .filter { flags.contains($0.0) }.map(\.1)
    }
}
