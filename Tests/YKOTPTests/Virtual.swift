// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKCrypto
import YKOTP
import YKTransport
import YKVirtualKey
import YKWire

/// A virtual key and both ways to its OTP application.
struct Virtual: Sendable {
    let key: VirtualKey
    var environment = ServiceEnvironment(timeout: .seconds(10))

    init(
        _ version: FirmwareVersion = FirmwareVersion(5, 7, 1),
        touch: @escaping @Sendable ([UInt8]) -> VirtualInputs.Touch = { _ in .touched }
    ) {
        key = VirtualKey(.demonstration(version: version), inputs: VirtualInputs(touch: touch))
        environment.pause = { _, _ in }
    }

    func link(_ carrier: OTPCarrier) -> sending any OTPLink {
        switch carrier {
        case .hid: HIDOTPLink(key.otpReportLink(), environment: environment)
        case .card: CardOTPLink(CardChannel(link: key.link(), environment: environment))
        }
    }

    func service(_ carrier: OTPCarrier, touch: @escaping @Sendable () async -> Void = {}) async throws -> OTPService {
        try await OTPService.open(link(carrier), touch: touch)
    }
}

/// What a touch of the key types, as text of the US layout.
extension Virtual {
    func typed(_ slot: Int) -> String {
        String(
            key.strokes(slot).strokes.map { stroke in
                guard case .key(let code) = stroke else { return "…" }
                return KeyboardLayout.us.character(code) ?? "?"
            })
    }
}

func shared(_ hex: String) -> SharedSecret { SharedSecret(Secret((try? Hex.decode(hex)) ?? [])) }
func shared(_ bytes: [UInt8]) -> SharedSecret { SharedSecret(Secret(bytes)) }
func code(_ byte: UInt8) throws -> OTPAccessCode { try OTPAccessCode(Secret([UInt8](repeating: byte, count: 6))) }

let bothWays: [OTPCarrier] = [.hid, .card]
