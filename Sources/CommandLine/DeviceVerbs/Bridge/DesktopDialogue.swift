// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TerminalIO
import YKDesktop
import YKInteraction
import YKTransport

/// The person at the desktop, who answers with the button of a notification.
final class DesktopDialogue: Person {
    /// An open question.
    private struct Open {
        /// When an answer counts.
        let armed: ContinuousClock.Instant
        let show: @Sendable () -> Void
        let end: @Sendable (Declined?) -> Void
    }

    /// The open questions by number, which is what a button names.
    private final class Questions: Sendable {
        let open = Mutex<[Int: Open]>([:])

        /// Handles a button. One that is pressed too early shows the question again.
        func press(_ number: Int, isYes: Bool) {
            guard let question = open.withLock({ $0[number] }) else { return }
            guard !isYes || question.armed <= .now else { return question.show() }
            end(number, isYes ? nil : .no)
        }

        func end(_ number: Int, _ declined: Declined?) {
            open.withLock { $0.removeValue(forKey: number) }?.end(declined)
        }

        func endAll() {
            for number in open.withLock({ Array($0.keys) }) { end(number, .nobodyToAsk) }
        }
    }

    private let buttons: NotificationButtons
    private let questions: Questions
    private let queue = WorkQueue()
    private let number = Mutex(0)
    private let cause: QuestionCause
    private let terminal: Terminal

    /// Finds the notifications of the desktop.
    init(_ cause: QuestionCause, _ terminal: Terminal) throws(DesktopError) {
        let questions = Questions()
        (self.questions, self.cause, self.terminal) = (questions, cause, terminal)
        buttons = try NotificationButtons(try DesktopNotifications(terminal.stage.desktop)) { identifier, action in
            if let number = Int(identifier) { questions.press(number, isYes: action == "allow") }
        } ended: {
            questions.endAll()
        }
    }

    deinit { buttons.end() }

    nonisolated(nonsending) func answer<Q: Question>(_ question: Q) async throws(Declined) -> Q.Answer {
        guard let words = (question as? any Worded)?.words, case .agree(let answer) = question.way else {
            throw .nobodyToAsk
        }
        let number = number.withLock { number in
            number += 1
            return number
        }
        let timer = timer(number)
        let declined = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                ask(number, words) { continuation.resume(returning: $0) }
                if Task.isCancelled { questions.end(number, .withdrawn) }
            }
        } onCancel: {
            questions.end(number, .withdrawn)
        }
        timer?()
        guard let declined else { return answer }
        if declined != .no { queue.add { [buttons] in buttons.close(String(number)) } }
        throw declined
    }

    /// Starts the time for an answer; returns what ends it.
    private func timer(_ number: Int) -> Alarm.Cancel? {
        guard case .program(let patience) = cause else { return nil }
        return Alarm.threads.set(patience) { [questions] in questions.end(number, .timedOut) }
    }

    private func ask(_ number: Int, _ words: QuestionWords, _ end: @escaping @Sendable (Declined?) -> Void) {
        let arming = cause == .person ? Duration.zero : QuestionCause.arming
        let show: @Sendable () -> Void = { [queue, buttons, questions, terminal] in
            queue.add {
                do throws(DesktopError) {
                    try buttons.show(
                        String(number), words.title, [words.question],
                        actions: [("allow", "Allow"), ("refuse", "Refuse")])
                } catch {
                    terminal.warnNow(Explanation(error).message)
                    questions.end(number, .nobodyToAsk)
                }
            }
        }
        questions.open.withLock { $0[number] = Open(armed: .now.advanced(by: arming), show: show, end: end) }
        show()
    }
}
