// SPDX-License-Identifier: Apache-2.0

import YKWire

extension FuzzTarget {
    static let usb: [FuzzTarget] = [
        FuzzTarget(name: "usb-descriptors") { bytes in
            guard let device = try? USBDescriptors(decoding: bytes) else { return }
            require(device.interfaces.count <= 256, "more interfaces than numbers")
            for interface in device.interfaces {
                _ = (interface.isCardReader, interface.endpoint(.bulk, isIn: true)?.packetSize)
                require((interface.reader?.maxDataLength ?? 261) >= 261, "a reader without room for a short command")
            }
        },
        FuzzTarget(name: "ccid-descriptor") { bytes in
            guard let descriptor = try? CCID.Descriptor(decoding: bytes) else { return }
            let again = try? CCID.Descriptor(decoding: descriptor.encoded)
            require(again == descriptor, "a class descriptor changes when written and read")
            require(!descriptor.powerChoices.isEmpty, "no voltage to try")
            require(descriptor.maxDataLength <= CCID.dataLimit, "a message without a limit")
        },
        FuzzTarget(name: "ccid-message") { bytes in
            var assembler = CCID.Assembler()
            for transfer in pieces(bytes) {
                guard let message = try? assembler.add(transfer) else { continue }
                let reply = try? CCID.Reply(decoding: message)
                require(reply?.encoded == message, "a reply changes when read and written")
                require((try? CCID.Command(decoding: message))?.encoded == message, "a command changes")
                _ = (reply?.card, reply?.outcome, reply?.chain, reply?.error.description)
                if let reply { _ = try? CCID.Parameters(reply.choice, decoding: reply.data) }
            }
            _ = CCID.Notification(bytes).state(of: bytes.last ?? 0)
        },
        FuzzTarget(name: "t1-block") { bytes in
            for check in [T1Block.Check.lrc, .crc] {
                guard let block = try? T1Block(decoding: bytes, check: check) else { continue }
                require((try? T1Block(decoding: block.encoded(check), check: check)) == block, "a block changes")
            }
            if let atr = try? ATR(decoding: bytes) { _ = (atr.t1, atr.fixed, ATR.cycles(of: atr.speed)) }
            if let choice = try? ProtocolSelection(decoding: bytes) {
                require((try? ProtocolSelection(decoding: choice.encoded)) == choice, "a selection changes")
            }
        },
    ]
}
