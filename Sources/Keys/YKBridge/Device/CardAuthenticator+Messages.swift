// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKVirtualKey
import YKWire

/// The processing of a message: what it waits for, when it is sent to the card, and what the program receives.
extension CardAuthenticator {
    private typealias Status = CTAPProtocol.Status

    /// Advances the message in progress as far as possible.
    func advance(at now: Instant) -> VirtualHID.Outcome {
        guard let current else { return .refused(.other) }
        guard let job, job.number == current.job else { return start(current, at: now) }
        if let reply = job.reply {
            self.job = nil
            self.current?.job = nil
            return conclude(reply, job, at: now)
        }
        if job.since.duration(to: now) >= settings.workTime {
            return finish(failure(current.request, Status.userActionTimeout), at: now)
        }
        return job.status == .touchNeeded ? .waiting : .computing
    }

    // MARK: before the card gets it

    private func start(_ current: Current, at now: Instant) -> VirtualHID.Outcome {
        let request = current.request
        if usable == nil, let answer = remembered(request) { return finish(answer, at: now) }
        // The card is still processing a message that was abandoned.
        guard job == nil else { return wait(nil, request, at: now) }
        guard let slot = usable else { return wait(hasLostCard ? .cardBack : .card, request, at: now) }
        if let blockedUntil, blockedUntil > now { return wait(.otherProgram(reader: slot.reader), request, at: now) }
        let needsPresence = request.traits.contains(.presence)
        // Lifting the card would end a session with a PIN, so the user is asked to do it before one begins.
        let begins = request.traits.contains(.agrees) && hold?.slot != slot.number
        if slot.isContactless, needsPresence || begins,
            !slot.presence.isAvailable(at: now, within: settings.presenceTime)
        {
            return wait(.lift(reader: slot.reader), request, at: now)
        }
        // Irreversible operations are always confirmed, whatever the proof of presence.
        if settings.confirms, needsPresence, !slot.isContactless || request.ceremony == .reset {
            switch confirmation(request, slot, at: now) {
            case nil: return wait(.confirmation(reader: slot.reader), request, at: now)
            case false?: return finish(failure(request, Status.operationDenied), at: now)
            case true?: break
            }
        }
        send(request, to: slot, at: now)
        processNotices(at: now)
        return self.job?.reply != nil ? advance(at: now) : .computing
    }

    /// The answer to a request that needs no card, from the description of the last one; `nil` for other requests.
    private func remembered(_ request: CardRequest) -> [UInt8]? {
        if request.isInfo { return isDescriptionStale ? nil : description?.info }
        guard request.isVersion, let description else { return nil }
        return description.hasU2F ? Array("U2F_V2".utf8) + StatusWord.ok.bytes : StatusWord.unknownInstruction.bytes
    }

    /// Waits for an action of the user, or, without a reason, for a card that is still busy.
    private func wait(_ reason: BridgeWait?, _ request: CardRequest, at now: Instant) -> VirtualHID.Outcome {
        if let reason {
            let isShown = shown?.wait == reason && shown?.ceremony == request.ceremony
            if !isShown { report(.waiting(reason, for: request.ceremony)) }
            shown = (reason, request.ceremony, now)
        }
        let since = current?.waitingSince ?? now
        current?.waitingSince = since
        if since.duration(to: now) >= (request.isU2F ? settings.pollTime : settings.patience) {
            let isBusy = if case .otherProgram = reason { true } else { reason == nil }
            return finish(failure(request, isBusy ? Status.channelBusy : Status.userActionTimeout), at: now)
        }
        let isForUser = if case .otherProgram = reason { false } else { reason != nil }
        return isForUser ? .waiting : .computing
    }

    /// Whether the user permits the use of the card for a request; `nil` while there is no answer. A U2F message that
    /// its program repeats is not a new request.
    private func confirmation(_ request: CardRequest, _ slot: CardSlot, at now: Instant) -> Bool? {
        if let question, question.slot == slot.number, question.request.message.payload == request.message.payload {
            return question.answer
        }
        withdrawQuestion()
        let number = nextNumber()
        question = Question(number: number, request: request, slot: slot.number, since: now)
        person.ask(request.ceremony, reader: slot.reader) { [inbox] in inbox.add(.confirmed(number, $0)) }
        processNotices(at: now)
        return question?.answer
    }

    private func send(_ request: CardRequest, to slot: CardSlot, at now: Instant) {
        endWait()
        let job = Job(number: nextNumber(), slot: slot.number, request: request, since: now)
        self.job = job
        current?.job = job.number
        current?.attempts += 1
        current?.waitingSince = nil
        bench.send(
            request, to: slot.number, within: settings.workTime, job.cancellation,
            keepalive: { [inbox] in inbox.add(.keepalive(job: job.number, $0)) },
            done: { [inbox] in inbox.add(.done(job: job.number, $0)) })
    }

    // MARK: when the card has answered

    private func conclude(_ reply: BridgedCard.Reply, _ job: Job, at now: Instant) -> VirtualHID.Outcome {
        switch reply.outcome {
        case .answered(let bytes): return conclude(bytes, job, at: now)
        case .stale:
            let continues = job.request.traits.contains(.continues)
            return finish([continues ? Status.notAllowed : Status.pinAuthInvalid], at: now)
        case .failed(let error): return conclude(error, job, at: now)
        }
    }

    private func conclude(_ bytes: [UInt8], _ job: Job, at now: Instant) -> VirtualHID.Outcome {
        let request = job.request
        guard !bytes.isEmpty, bytes.count <= CTAPHID.messageLimit else {
            if request.traits.contains(.presence) { usePresence(of: job.slot) }
            return finish(failure(request, Status.other), at: now)
        }
        if isPresenceRefused(bytes, request) { return presenceRefused(bytes, job, at: now) }
        let isDone = request.status(of: bytes) == Status.ok
        let isUsed = isDone || !request.isU2F && bytes[0] == Status.credentialExcluded
        if request.traits.contains(.signs), isUsed {
            usePresence(of: job.slot)
            question = nil
        }
        if isDone { remember(bytes, request) }
        reportUse(bytes, of: job)
        return finish(request.isInfo ? CardDescription.bridged(bytes) : bytes, at: now)
    }

    /// Stores the card's description, or marks it as stale when a message may have changed it.
    private func remember(_ bytes: [UInt8], _ request: CardRequest) {
        if request.isInfo {
            description?.info = CardDescription.bridged(bytes)
            isDescriptionStale = false
        } else if !request.traits.contains(.repeatable), !request.traits.contains(.continues) {
            isDescriptionStale = true
        }
    }

    /// Whether the card reports that the user is not present.
    private func isPresenceRefused(_ bytes: [UInt8], _ request: CardRequest) -> Bool {
        guard request.traits.contains(.presence) else { return false }
        if request.isU2F { return bytes == StatusWord.conditionsNotSatisfied.bytes }
        return [Status.userPresenceRequired, Status.operationDenied, Status.userActionTimeout].contains(bytes[0])
    }

    /// Handles a card that has used up its own proof of presence and must be lifted. For U2F the program repeats the
    /// message itself.
    private func presenceRefused(_ bytes: [UInt8], _ job: Job, at now: Instant) -> VirtualHID.Outcome {
        usePresence(of: job.slot)
        let isContactless = slots.first { $0.number == job.slot }?.isContactless ?? false
        guard isContactless, bytes[0] == Status.userPresenceRequired, isRepeatable(job.request), let current else {
            return finish(bytes, at: now)
        }
        return start(current, at: now)
    }

    /// Handles a failure. A repeatable request is sent again when the card is back; others end, and are never sent
    /// twice.
    private func conclude(_ error: FIDOLinkError, _ job: Job, at now: Instant) -> VirtualHID.Outcome {
        let request = job.request
        if case .card(.status(let word, _)) = error, word == .conditionsNotSatisfied, !request.isU2F {
            let answer = [Status.userPresenceRequired]
            return request.traits.contains(.presence)
                ? presenceRefused(answer, job, at: now) : finish(answer, at: now)
        }
        guard let link = error.link, link != .cancelled else { return finish(answer(to: error, request), at: now) }
        if case .busy = link {
            let since = current?.busySince ?? job.since
            guard since.duration(to: now) < settings.patience else {
                return finish(failure(request, Status.channelBusy), at: now)
            }
            blockedUntil = now.advanced(by: .milliseconds(250))
            self.current?.busySince = since
            self.current?.attempts -= 1
            return advance(at: now)
        }
        lose(job.slot, link, at: now)
        // It is unknown whether the card received the message.
        if request.traits.contains(.presence) { usePresence(of: job.slot) }
        if isRepeatable(request), !link.isTimeout, let current {
            hasLostCard = true
            return start(current, at: now)
        }
        return finish(answer(to: error, request), at: now)
    }

    private func isRepeatable(_ request: CardRequest) -> Bool {
        request.traits.contains(.repeatable) && current?.attempts ?? 0 < 4
    }

    /// The answer to a program when the card did not answer.
    private func answer(to error: FIDOLinkError, _ request: CardRequest) -> [UInt8] {
        let status: UInt8 =
            switch error {
            case .notTouched: Status.userActionTimeout
            case .card(.tooLong): Status.requestTooLarge
            case .card(.link(.cancelled)): Status.keepaliveCancel
            case .card(.status(.unknownInstruction, _)), .card(.status(.unknownClass, _)): Status.invalidCommand
            case .card(.status(.wrongLength, _)): Status.invalidLength
            case .card(.link) where request.traits.contains(.continues): Status.notAllowed
            case .card(.link(.timedOut)): Status.other
            case .card(.link) where request.traits.contains(.presence): Status.pinAuthInvalid
            default: Status.other
            }
        return failure(request, status)
    }

    /// The answer to a failed message: a CTAP2 status, or a U2F status word.
    private func failure(_ request: CardRequest, _ status: UInt8) -> [UInt8] {
        guard request.isU2F else { return [status] }
        let isForUser = status == Status.userActionTimeout || status == Status.operationDenied
        return (isForUser && request.traits.contains(.presence) ? StatusWord.conditionsNotSatisfied : .aborted).bytes
    }

    /// Ends the message in progress with an answer.
    private func finish(_ answer: [UInt8], at now: Instant) -> VirtualHID.Outcome {
        if let job, job.number == current?.job { job.cancellation.cancel() }
        let request = current?.request
        current = nil
        hasLostCard = false
        if request?.isU2F == false {
            withdrawQuestion()
            endWait()
        }
        return .answer(answer)
    }
}

extension LinkError {
    /// Whether the card or its reader did not answer in time.
    fileprivate var isTimeout: Bool { if case .timedOut = self { true } else { false } }
}
