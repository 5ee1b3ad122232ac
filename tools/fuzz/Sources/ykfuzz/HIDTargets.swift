// SPDX-License-Identifier: Apache-2.0

import YKWire

extension FuzzTarget {
    static let hid: [FuzzTarget] = [
        FuzzTarget(name: "hid-assembler") { bytes in
            var reports = stride(from: 0, to: bytes.count, by: 64).map { Array(bytes[$0..<min(bytes.count, $0 + 64)]) }
            guard let last = reports.popLast() else { return }
            reports.append(last + [UInt8](repeating: 0, count: 64 - last.count))
            var assembler = CTAPHID.Assembler(channel: CTAPHID.Channel(rawValue: 7))
            for report in reports {
                guard case .message(let message)? = try? assembler.add(report) else { continue }
                require(message.payload.count <= CTAPHID.messageLimit, "a message is longer than the limit")
                var again = CTAPHID.Assembler(channel: message.channel)
                let progress = (try? message.reports())?.compactMap { try? again.add($0) }
                require(progress?.last == .message(message), "a message changes when split and put together")
            }
        },
        FuzzTarget(name: "hid-descriptor") { bytes in
            guard let descriptor = try? HIDReportDescriptor(decoding: bytes) else { return }
            _ = (descriptor.isFIDO, descriptor.isOTPKeyboard, descriptor.number(of: .feature))
            require(descriptor.length(of: .input) >= 0, "a report has less than no bytes")
        },
    ]
}
