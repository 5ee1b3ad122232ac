// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKVirtualKey
import YKWire

/// Executes the messages of a CTAPHID device with the cards in the readers, on the thread of the device. It never
/// blocks: cards and users report to its inbox.
final class CardAuthenticator {
    typealias Instant = ContinuousClock.Instant

    /// A message in progress.
    struct Current {
        let request: CardRequest
        /// How often it was sent.
        var attempts = 0
        /// When it began to wait for its user; `nil` while it does not.
        var waitingSince: Instant?
        /// When another program was first found to use the card.
        var busySince: Instant?
        /// The job that works on it.
        var job: Int?
    }

    /// A request that a card works on.
    struct Job {
        let number: Int
        let slot: Int
        let request: CardRequest
        let since: Instant
        let cancellation = Cancellation()
        var status = FIDOKeepalive.processing
        var reply: BridgedCard.Reply?
    }

    /// A question to the user.
    struct Question {
        let number: Int
        let request: CardRequest
        let slot: Int
        let since: Instant
        var answer: Bool?
    }

    let settings: BridgeSettings
    let bench: CardBench
    let inbox: BridgeInbox
    let person: any BridgePerson
    let report: (BridgeEvent) -> Void

    /// The cards in the order of insertion.
    var slots: [CardSlot] = []
    /// The readers that are known to be empty.
    var empty: Set<String> = []
    var current: Current?
    var job: Job?
    var question: Question?
    /// The description of the last card.
    var description: CardDescription?
    /// Whether a message may have changed the description.
    var isDescriptionStale = false
    /// The card that other programs are locked out of, and until when.
    var hold: (slot: Int, until: Instant)?
    /// What the user was asked to do, and when that was last needed.
    var shown: (wait: BridgeWait, ceremony: Ceremony, wanted: Instant)?
    /// When to retry a card that another program is using.
    var blockedUntil: Instant?
    /// Whether a card was removed during the current ceremony.
    var hasLostCard = false
    private var lastReady: Instant?
    private var numbers = 0

    init(
        _ settings: BridgeSettings, _ bench: CardBench, _ inbox: BridgeInbox, _ person: any BridgePerson,
        report: @escaping (BridgeEvent) -> Void
    ) {
        (self.settings, self.bench, self.inbox, self.person, self.report) = (settings, bench, inbox, person, report)
    }

    /// The capabilities in the answer to INIT; all of them until the first card was seen.
    var capabilities: UInt8 { description?.capabilities ?? 0x05 }

    /// Whether the device should be plugged in.
    func isWanted(at now: Instant) -> Bool {
        if settings.staysPluggedIn || current != nil || slots.contains(where: { $0.state == .ready }) { return true }
        return lastReady.map { $0.duration(to: now) < settings.linger } ?? false
    }

    /// A number that was not used before.
    func nextNumber() -> Int {
        numbers += 1
        return numbers
    }

    // MARK: the device

    /// Begins or continues a message.
    func run(_ message: CTAPHID.Message, at now: Instant) -> VirtualHID.Outcome {
        processNotices(at: now)
        if current?.request.message != message {
            abandon(at: now)
            switch CardRequest.reading(of: message) {
            case .refused(let code): return .refused(code)
            case .answer(let bytes): return .answer(bytes)
            case .request(let request): current = Current(request: request)
            }
        }
        return advance(at: now)
    }

    /// Forgets the message in progress unless it is this one: it was answered, cancelled, or dropped by the program.
    func keep(_ message: CTAPHID.Message?, at now: Instant) {
        if current?.request.message != message { abandon(at: now) }
    }

    /// Abandons all pending work when the last program has closed the node.
    func closed(at now: Instant) {
        abandon(at: now)
        withdrawQuestion()
        endWait()
        release()
    }

    /// Disconnects from the cards.
    func end() {
        job?.cancellation.cancel()
        withdrawQuestion()
        for slot in slots { bench.close(slot.number) }
        slots = []
    }

    /// Performs work that is due.
    func poll(at now: Instant) {
        processNotices(at: now)
        for index in slots.indices {
            if case .failed(let retry) = slots[index].state, retry <= now { open(index) }
        }
        processNotices(at: now)
        if let hold, hold.until <= now, job == nil { release() }
        // U2F does not wait: a program that repeats its message within two seconds is still interested.
        if let shown, shown.wanted.duration(to: now) > .seconds(2), current == nil { endWait() }
        if let question, current == nil, shown == nil, question.since.duration(to: now) > settings.patience {
            withdrawQuestion()
        }
        if slots.contains(where: { $0.state == .ready }) { lastReady = now }
    }

    /// Lets other programs use the card that they are locked out of.
    func release() {
        if let hold { bench.rest(hold.slot) }
        hold = nil
    }

    // MARK: reports

    /// Processes what other threads reported.
    func processNotices(at now: Instant) {
        while true {
            let notices = inbox.take()
            if notices.isEmpty { return }
            for notice in notices { process(notice, at: now) }
        }
    }

    private func process(_ notice: BridgeInbox.Notice, at now: Instant) {
        switch notice {
        case .reader(let event): note(event, at: now)
        case .opened(let number, let result): opened(number, result, at: now)
        case .keepalive(let number, let status): if job?.number == number { job?.status = status }
        case .done(let number, let reply): if job?.number == number { done(reply, at: now) }
        case .confirmed(let number, let answer):
            if question?.number == number, question?.answer == nil { question?.answer = answer }
        }
    }

    /// Handles the reply to a job. An abandoned one may have used up the user's presence, and the card may have signed.
    private func done(_ reply: BridgedCard.Reply, at now: Instant) {
        guard var job else { return }
        job.reply = reply
        keepHold(reply, job.slot, at: now)
        guard current?.job != job.number else { return self.job = job }
        if job.request.traits.contains(.presence) { usePresence(of: job.slot) }
        if case .answered(let bytes) = reply.outcome { reportUse(bytes, of: job) }
        self.job = nil
        if current == nil { release() }
    }

    /// Reports what the card answered to a request of a program, also when the program no longer waits for it.
    func reportUse(_ answer: [UInt8], of job: Job) {
        guard job.request.ceremony != .manage, let slot = slots.first(where: { $0.number == job.slot }) else { return }
        report(.answered(job.request.ceremony, reader: slot.reader, status: job.request.status(of: answer)))
    }

    /// Records whether other programs are locked out of a card.
    private func keepHold(_ reply: BridgedCard.Reply, _ slot: Int, at now: Instant) {
        if reply.isHeld {
            hold = (slot, now.advanced(by: settings.holdTime))
        } else if hold?.slot == slot {
            hold = nil
        }
    }

    /// Uses up the proof of presence of a card.
    func usePresence(of slot: Int) {
        if let index = slots.firstIndex(where: { $0.number == slot }) { slots[index].presence.use() }
    }

    /// Drops the message in progress; if a card is processing it, that is cancelled and the answer dropped.
    func abandon(at now: Instant) {
        guard let current else { return }
        self.current = nil
        hasLostCard = false
        if let job, job.number == current.job {
            job.cancellation.cancel()
            if let reply = job.reply { done(reply, at: now) }
        }
        if !current.request.isU2F {
            withdrawQuestion()
            endWait()
        }
    }

    /// Withdraws the pending question.
    func withdrawQuestion() {
        if question?.answer == nil, question != nil { person.withdraw() }
        question = nil
    }

    /// Reports that the user has nothing to do for now.
    func endWait() {
        if shown != nil { report(.waitEnded) }
        shown = nil
    }
}
