// SPDX-License-Identifier: Apache-2.0

import YKWire

/// The traffic of one USB device, sorted by interface.
struct USBDeviceTraffic {
    private typealias Moment = (event: Capture.Event.Kind, milliseconds: Double)

    private let address: USBPacket.Address
    private var names = USBNames()
    private var reports: [Moment] = []
    private var isFIDO = false
    private var slotReports: [Moment] = []
    private var reader = CCIDTraffic()
    private var cards: [UInt8: [Moment]] = [:]
    private var atrs: [UInt8: [UInt8]] = [:]
    private var isGone = false

    init(_ address: USBPacket.Address) { self.address = address }

    /// Processes a packet; throws if its data is needed but truncated.
    mutating func take(_ packet: USBPacket) throws(CaptureError) {
        if packet.isUnplugged { unplug(packet) }
        guard packet.carriesData else { return }
        switch packet.transfer {
        case .interrupt: try report(packet)
        case .control: try control(packet)
        case .bulk: try bulk(packet)
        case .isochronous: break
        }
    }

    private mutating func unplug(_ packet: USBPacket) {
        guard !isGone else { return }
        isGone = true
        let removed = (Capture.Event.Kind.link(.removed, why: nil), packet.milliseconds)
        if !reports.isEmpty { reports.append(removed) }
        if !slotReports.isEmpty { slotReports.append(removed) }
        for slot in cards.keys { cards[slot]?.append(removed) }
    }

    private mutating func report(_ packet: USBPacket) throws(CaptureError) {
        guard packet.data.count == CTAPHID.reportSize else { return }
        if !packet.isIn { isFIDO = isFIDO || Self.beginsMessage(packet.data) }
        reports.append((packet.isIn ? .delivered(packet.data) : .written(packet.data), packet.milliseconds))
    }

    /// Whether a report from the host starts a known CTAPHID message.
    private static func beginsMessage(_ report: [UInt8]) -> Bool {
        let commands: [CTAPHID.Command] = [.ping, .msg, .lock, .initialize, .wink, .cbor, .cancel]
        guard report[4] & 0x80 != 0, commands.contains(.init(rawValue: report[4] & 0x7F)) else { return false }
        return Int(report[5]) << 8 | Int(report[6]) <= CTAPHID.messageLimit
    }

    /// Processes SET_REPORT and GET_REPORT (HID 1.11 §7.2) of output or feature reports, and descriptors.
    private mutating func control(_ packet: USBPacket) throws(CaptureError) {
        guard packet.setup.count == 8 else { return }
        switch (packet.setup[0], packet.setup[1], packet.setup[3]) {
        case (0x21, 0x09, 0x02) where packet.data.count == CTAPHID.reportSize:
            isFIDO = isFIDO || Self.beginsMessage(packet.data)
            reports.append((.written(packet.data), packet.milliseconds))
        case (0x21, 0x09, 0x03) where packet.data.count == 8:
            slotReports.append((.featureSet(packet.data), packet.milliseconds))
        case (0xA1, 0x01, 0x03) where packet.data.count == 8:
            slotReports.append((.featureGot(packet.data), packet.milliseconds))
        case (0x80, 0x06, let kind): names.take(kind, index: packet.setup[2], packet.data)
        default: break
        }
    }

    private mutating func bulk(_ packet: USBPacket) throws(CaptureError) {
        let found = packet.isIn ? reader.received(packet.data) : reader.sent(packet.data)
        if packet.isCut, reader.isInMessage {
            throw CaptureError(line: 0, "packet \(packet.number) is cut off: capture whole packets (tcpdump -s 0)")
        }
        guard let (slot, finding) = found else { return }
        let event: Capture.Event.Kind
        switch finding {
        case .exchange(let command, let reply): event = .exchange(command: command, reply: reply)
        case .event(let what, let why): event = .link(what, why: why)
        case .powered(let atr):
            atrs[slot] = atr
            event = .link(.powerOn, why: nil)
        }
        cards[slot, default: []].append((event, packet.milliseconds))
    }

    /// Writes the sessions.
    func write(to book: inout SessionBook) {
        let place = "bus \(address.bus) device \(address.device)" + (names.name.map { " (\($0))" } ?? "")
        if isFIDO { write(reports, "\(place), FIDO", &book) }
        if !slotReports.isEmpty { write(slotReports, "\(place), slots", &book) }
        for (slot, events) in cards.sorted(by: { $0.key < $1.key }) {
            let label = slot == 0 ? "\(place), card" : "\(place), card \(slot)"
            book.reader(label, atr: atrs[slot])
            write(events, label, &book)
        }
    }

    private func write(_ events: [Moment], _ label: String, _ book: inout SessionBook) {
        if let name = names.name { book.device(label, name: name) }
        for (event, milliseconds) in events { book.add(.init(event, milliseconds: milliseconds), to: label) }
    }
}
