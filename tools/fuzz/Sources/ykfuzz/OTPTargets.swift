// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

extension FuzzTarget {
    static let otp: [FuzzTarget] = [
        FuzzTarget(name: "otp-frame") { bytes in
            var assembler = OTPFrame.Assembler()
            for start in stride(from: 0, to: bytes.count, by: 8) {
                let report = Array(bytes[start..<min(bytes.count, start + 8)])
                guard case .whole(let whole)? = try? assembler.add(report) else { continue }
                guard let frame = try? OTPFrame(decoding: whole) else { continue }
                require((try? OTPFrame(decoding: frame.encoded)) == frame, "a frame changes when written and read")
            }
            if let record = try? OTPSlotRecord(decoding: bytes) {
                require(
                    (try? OTPSlotRecord(decoding: record.encoded)) == record, "a slot changes when written and read")
            }
            if let record = try? OTPNDEFRecord(decoding: bytes) { _ = try? record.encoded() }
        },
        FuzzTarget(name: "otp-reply") { bytes in
            var reply = OTPReplyAssembler()
            for start in stride(from: 0, to: bytes.count, by: 8) {
                let report = Array(bytes[start..<min(bytes.count, start + 8)])
                switch try? OTPReport(decoding: report) {
                case .reply(let number, let part)?: _ = try? reply.add(number, part)
                case .status(let status)?: _ = try? OTPStatus(decoding: status)
                default: continue
                }
            }
            for count in [-1, 0, 1, 20, 1 + Int(reply.bytes.first ?? 0), reply.bytes.count] {
                _ = try? reply.checked(count)
            }
        },
    ]
}
