// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKHSMAuth
import YKKeys
import YKOTP
import YKSecrets
import YKTransport
import YKWire

// The applications whose secrets a person stores on both keys.

extension InventoryReader {
    /// The challenge that compares two slots; its response is kept only as a hash.
    private static let challenge = Array("ykit inventory: compare two slots".utf8)

    /// Lists the programmed slots. A slot that answers challenges without a touch is marked by its answer.
    func readOTP(_ reading: inout Reading) async throws {
        do {
            guard let service = try await opened({ try await key.open(OTPService.self) }) else { return }
            var states: [(slot: OTPSlot, state: OTPSlotState)] = []
            for slot in OTPSlot.allCases { states.append((slot, await service.state(of: slot))) }
            // Over a card nothing tells that a touch is awaited.
            let showsTouch = await service.carrier == .hid
            await service.close()
            for (slot, state) in states where state.isProgrammed != false {
                let use =
                    switch state.isTouchTriggered {
                    case true?: "types when touched"
                    case false?: "answers challenges"
                    case nil: "use not reported"
                    }
                let mark = showsTouch && state.isTouchTriggered == false ? await answer(of: slot) : nil
                reading.inventory.items.append(
                    Inventory.Item(
                        .otp, "slot \(slot.rawValue)", name: "slot \(slot.rawValue), \(use)", mark: mark))
            }
        } catch { try reading.miss(.otp, .failed, error) }
    }

    /// The hash of a slot's answer; `nil` if it requires a touch, which ends the exchange.
    private func answer(of slot: OTPSlot) async -> String? {
        let touched = Cancellation()
        var keys = key.keys
        keys.environment.cancellation = touched
        let own = keys.selected
        guard let service = try? await own.open(OTPService.self, touch: { touched.cancel() }) else { return nil }
        let answer = try? await service.hmac(slot, Self.challenge)
        await service.close()
        return answer.map { Hex.encode(HashAlgorithm.sha256.hash($0)) }
    }

    /// Lists the credentials for a YubiHSM, whose secrets no key reveals.
    func readHSMAuth(_ reading: inout Reading) async throws {
        do {
            guard let service = try await opened({ try await key.open(HSMAuthService.self) }) else { return }
            for credential in try await service.credentials() {
                let label = credential.label.text
                reading.inventory.items.append(Inventory.Item(.hsmAuth, label, name: label))
            }
            await service.close()
        } catch { try reading.miss(.hsmAuth, .failed, error) }
    }

    /// Lists the entries of a Nitrokey's Secrets application that need no PIN.
    func readSecrets(_ reading: inout Reading) async throws {
        do {
            guard let service = try await opened({ try await key.open(SecretsService.self) }) else { return }
            for entry in try await service.entries() {
                let name = entry.name.text
                reading.inventory.items.append(Inventory.Item(.secrets, name, name: name))
            }
            await service.close()
        } catch SecretsError.otherApplication {
            // The key has Yubico's OATH application instead.
        } catch { try reading.miss(.secrets, .failed, error) }
    }
}
