// SPDX-License-Identifier: Apache-2.0

import YKManagement
import YKProtocols
import YKSecureChannel
import YKTransport
import YKWire

extension KeyRing {
    /// Opens SCP11b in each application that the key offers only through a secure channel, as keys of the FIPS series
    /// do on contactless readers. Reads the list of these applications from the key before the first of them is
    /// selected.
    func protectWhereRequired(_ channel: CardChannel, _ environment: ServiceEnvironment) {
        guard secureChannel == nil, channel.identity.isYubiKey,
            (try? ATR(decoding: channel.identity.atr))?.contactless != nil
        else { return }
        if let plan = decoration.plan { return Self.planWhereRequired(channel, plan) }
        guard let requiredChannelTrust else { return }
        var known: (required: Capability, protection: SecureChannel?)?
        channel.requiredProtection = { aid, channel throws(CardError) in
            guard let application = Self.application(aid) else { return nil }
            if known == nil {
                let required = try Self.requiringChannel(channel)
                let trust = required.contains(application) ? requiredChannelTrust() : nil
                known = (
                    required,
                    trust.map { SecureChannel(.scp11(.b, trust: $0), environment: environment) }
                )
            }
            return known?.required.contains(application) ?? false ? known?.protection : nil
        }
    }

    /// Adds the channel to the plan, which ends there.
    private static func planWhereRequired(_ channel: CardChannel, _ plan: ExchangePlan) {
        guard plan.secureChannel == nil, let words = plan.requiredChannel else { return }
        channel.requiredProtection = { aid, channel throws(CardError) in
            guard let application = application(aid), try requiringChannel(channel).contains(application) else {
                return nil
            }
            throw .link(plan.endAtRequiredChannel(words))
        }
    }

    /// Maps an application on a card to its capability, if FIPS 140-3 applies to it.
    private static func application(_ aid: AID) -> Capability? {
        CardVocabularies.known[aid]?.protectedCapability.map(Capability.init(rawValue:))
    }

    /// The applications that the key reports as FIPS capable, from the first firmware that supports SCP11; empty if the
    /// key does not report any.
    private static func requiringChannel(_ channel: CardChannel) throws(CardError) -> Capability {
        do throws(ManagementError) {
            let info = try ManagementSession(channel).deviceInfo()
            return info.version >= FirmwareVersion(5, 7, 2) ? info.fipsCapable : []
        } catch {
            if case .card(.link(let failure)) = error, !failure.isReplay { throw .link(failure) }
            return []
        }
    }
}

extension LinkError {
    fileprivate var isReplay: Bool { if case .replay = self { true } else { false } }
}

extension KeyRing {
    /// Why an application may seem to be missing: a key on a contactless reader hides its applications while NFC is
    /// restricted, which its tag shows.
    package var restriction: (any Error)? {
        guard let link = try? card(isRecorded: false),
            (try? NFCRestriction.isActive(CardChannel(link: link))) ?? false
        else { return nil }
        return ManagementError.nfcRestricted
    }
}
