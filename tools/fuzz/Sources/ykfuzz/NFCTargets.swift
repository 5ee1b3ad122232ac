// SPDX-License-Identifier: Apache-2.0

import Dispatch
import YKCrypto
import YKNFC
import YKToken
import YKTransport
import YKWire

extension FuzzTarget {
    static let nfc: [FuzzTarget] = [
        FuzzTarget(name: "ndef") { bytes in
            guard let message = try? NDEFMessage(decoding: bytes) else { return }
            for chunk in [nil, 1, 100] {
                let encoded = try? message.encoded(chunk: chunk)
                require(encoded.flatMap { try? NDEFMessage(decoding: $0) } == message, "a message changes on its way")
            }
            for record in message.records {
                guard let content = try? record.content() else { continue }
                switch content {
                case .text(let text):
                    require((try? text.encoded()).flatMap { try? NDEFText(decoding: $0) } == text, "a text changes")
                case .smartPoster(let poster):
                    // A media type that is no UTF-8 is mended when it is read.
                    let again = (try? poster.encoded()).flatMap { try? NDEFSmartPoster(decoding: $0) }
                    require(again == poster, "a poster changes")
                case .uri(let uri): require(uri.encoded == record.payload, "a URI changes")
                default: break
                }
            }
        },
        FuzzTarget(name: "capability-container") { bytes in
            guard let container = try? CapabilityContainer(decoding: bytes) else { return }
            require((try? CapabilityContainer(decoding: container.encoded)) == container, "a container changes")
        },
        FuzzTarget(name: "tag") { bytes in
            let done = DispatchSemaphore(value: 0)
            Task {
                let environment = ServiceEnvironment(clock: FixedClock(0), timeout: .seconds(5))
                let link = ScriptedCard([[0x90, 0x00]] + pieces(bytes))
                let service = try? await TagService.open(CardChannel(link: link, environment: environment))
                _ = try? await service?.message()
                done.signal()
            }
            done.wait()
        },
        FuzzTarget(name: "otp-token") { bytes in
            _ = OTPToken(typed: String(decoding: bytes, as: UTF8.self))
            for record in [NDEFURI(code: 0, rest: bytes).record, NDEFRecord(wellKnown: "T", payload: bytes)] {
                guard let token = OTPToken(in: NDEFMessage([record])) else { continue }
                require(!token.value.isEmpty, "a password of nothing")
                guard case .yubicoOTP(let otp) = token.kind else { continue }
                require((try? YubicoOTP(parsing: "\(otp)")) == otp, "a Yubico OTP changes")
                _ = try? otp.decrypted(with: Secret([UInt8](repeating: 1, count: 16)))
            }
        },
        FuzzTarget(name: "validation-reply") { bytes in
            guard let reply = try? ValidationReply(parsing: bytes) else { return }
            let key = SharedSecret(Secret([1, 2, 3]))
            require(!reply.isSigned(by: key), "the fuzzer forged a signature")
            _ = reply.counter
        },
    ]
}
