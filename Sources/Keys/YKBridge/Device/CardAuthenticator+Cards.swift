// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKTransport
import YKWire

/// The insertion and removal of cards.
extension CardAuthenticator {
    /// The card that receives messages: that of an unfinished ceremony, else the one inserted last.
    var usable: CardSlot? {
        let ready = slots.filter { $0.state == .ready }
        return ready.first { $0.number == hold?.slot } ?? ready.last
    }

    /// Processes a change of a reader. A card counts as laid down only if its reader was known to be empty: a restarted
    /// service, or a reader that was just plugged in, also reports cards that have been there for a long time.
    func note(_ event: ReaderEvent, at now: Instant) {
        switch event {
        case .added(let status): note(status, at: now)
        case .changed(let status): note(status, at: now)
        case .removed(let name):
            empty.remove(name)
            remove(name)
        case .interrupted(let error):
            empty = []
            for slot in slots { remove(slot.reader) }
            report(.serviceFailed(error))
        case .enumerated: break
        }
    }

    private func note(_ status: ReaderStatus, at now: Instant) {
        if let wanted = settings.reader, !status.name.mentions(wanted) { return }
        guard status.hasCard else {
            empty.insert(status.name)
            return remove(status.name)
        }
        let wasEmpty = empty.remove(status.name) != nil
        guard !status.isMute, !slots.contains(where: { $0.reader == status.name }) else { return }
        let presence = Presence(laidDown: wasEmpty ? now : nil)
        slots.append(CardSlot(number: nextNumber(), reader: status.name, presence: presence))
        open(slots.count - 1)
    }

    private func remove(_ reader: String) {
        guard let index = slots.firstIndex(where: { $0.reader == reader }) else { return }
        let slot = slots.remove(at: index)
        bench.close(slot.number)
        if hold?.slot == slot.number { hold = nil }
        if question?.slot == slot.number { withdrawQuestion() }
        if let current, current.attempts > 0 { hasLostCard = true }
        if slot.state == .ready { report(.cardLeft(reader: reader)) }
    }

    /// Connects to a card.
    func open(_ index: Int) {
        let slot = slots[index]
        slots[index].state = .opening
        bench.open(slot.number, reader: slot.reader) { [inbox] in inbox.add(.opened(slot.number, $0)) }
    }

    /// Records the result of connecting to a card.
    func opened(_ number: Int, _ result: Result<CardDescription, FIDOLinkError>, at now: Instant) {
        guard let index = slots.firstIndex(where: { $0.number == number }) else { return bench.close(number) }
        let reader = slots[index].reader
        switch result {
        case .success(let found):
            slots[index].state = .ready
            slots[index].isContactless = found.isContactless
            slots[index].failures = 0
            (description, isDescriptionStale) = (found, false)
            report(.cardReady(reader: reader, isContactless: found.isContactless))
        case .failure(.card(.appletMissing)):
            slots[index].state = .foreign
            report(.cardForeign(reader: reader))
        case .failure(let error):
            slots[index].failures += 1
            guard slots[index].failures < CardSlot.patience else { return slots[index].state = .foreign }
            slots[index].state = .failed(retry: now.advanced(by: settings.retryTime))
            if let link = error.link, slots[index].failures == 1 { report(.cardFailed(reader: reader, link)) }
        }
    }

    /// Records that the connection to a card failed. A reset by another program does not end it.
    func lose(_ number: Int, _ error: LinkError, at now: Instant) {
        guard error != .reset, let index = slots.firstIndex(where: { $0.number == number }) else { return }
        bench.close(number)
        slots[index].state = .failed(retry: now.advanced(by: settings.retryTime))
    }
}
