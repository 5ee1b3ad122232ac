// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TerminalIO
import Verbs
import Words
import YKBridge
import YKDesktop

/// The user at the desktop, who confirms with the button of a notification.
final class BridgeDesktop: BridgePerson {
    /// The open question: its identifier, and the handler of the answer.
    private final class Open: Sendable {
        let question = Mutex<(number: Int, answer: @Sendable (Bool) -> Void)?>(nil)

        /// Answers the question with this identifier, or any.
        func close(_ identifier: String?, with answer: Bool) {
            let waiting: (@Sendable (Bool) -> Void)? = question.withLock { question in
                guard let open = question, identifier == nil || identifier == String(open.number) else { return nil }
                question = nil
                return open.answer
            }
            waiting?(answer)
        }
    }

    private let buttons: NotificationButtons
    private let open: Open
    private let queue = WorkQueue()
    private let number = Mutex(0)
    private let question: BridgeQuestion

    /// Finds the notifications of the desktop.
    init(_ question: BridgeQuestion) throws(Explanation) {
        self.question = question
        let notifications = try DesktopNotifications.found()
        let open = Open()
        self.open = open
        do throws(DesktopError) {
            buttons = try NotificationButtons(notifications) { identifier, action in
                open.close(identifier, with: action == "allow")
            } ended: {
                open.close(nil, with: false)
            }
        } catch { throw error.explanation }
    }

    deinit { buttons.end() }

    func ask(_ ceremony: Ceremony, reader: String, answer: @escaping @Sendable (Bool) -> Void) {
        withdraw()
        let number = number.withLock { number in
            number += 1
            return number
        }
        open.question.withLock { $0 = (number, answer) }
        queue.add { [buttons, open, question] in
            do throws(DesktopError) {
                try buttons.show(
                    String(number), question.title, [ceremony.words, reader],
                    actions: [("allow", "Allow"), ("refuse", "Refuse")])
            } catch {
                Terminal().warnNow(error.explanation.message)
                open.close(String(number), with: false)
            }
        }
    }

    func withdraw() { open.close(nil, with: false) }
}
