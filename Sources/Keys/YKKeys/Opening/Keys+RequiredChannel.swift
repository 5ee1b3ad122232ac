// SPDX-License-Identifier: Apache-2.0

import YKManagement
import YKProtocols
import YKSecureChannel
import YKTransport
import YKWire

extension Keys {
    /// Has SCP11b opened in each application that the key offers through a secure channel only, as keys of the FIPS series
    /// do on contactless readers. Which those are the key is asked before the first of them is selected.
    func protectWhereRequired(_ channel: CardChannel, _ environment: Environment) {
        guard secureChannel == nil, decoration.plan == nil, let requiredChannelTrust, channel.identity.isYubiKey,
            (try? ATR(decoding: channel.identity.atr))?.contactless != nil
        else { return }
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

    /// The applications that FIPS 140-3 is about, of those on a card.
    private static func application(_ aid: AID) -> Capability? {
        switch aid {
        case .oath: .oath
        case .piv: .piv
        case .openPGP: .openPGP
        case .hsmAuth: .hsmAuth
        default: nil
        }
    }

    /// What the key says is under FIPS, from the first firmware on that opens SCP11; nothing where it does not tell.
    private static func requiringChannel(_ channel: CardChannel) throws(CardError) -> Capability {
        do throws(ManagementError) {
            let info = try ManagementSession(channel).deviceInfo()
            return info.version >= Version(5, 7, 2) ? info.fipsCapable : []
        } catch {
            if case .card(.link(let failure)) = error, !failure.isReplay { throw .link(failure) }
            return []
        }
    }
}

extension LinkError {
    fileprivate var isReplay: Bool { if case .replay = self { true } else { false } }
}
