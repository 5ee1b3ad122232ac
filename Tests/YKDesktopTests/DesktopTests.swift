// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKHardware
import YKTestSupport
import YKTransport
import YKWire

@testable import YKDesktop

/// Programs that are installed, and what they were started with.
private final class Programs: Sendable {
    struct Start: Sendable, Equatable {
        let name: String
        let arguments: [String]
        let input: String
        let variables: [String: String]
    }

    private let answers: [String: @Sendable (Start) throws(ProgramError) -> ChildProcess.Ending]
    private let all = Mutex<[Start]>([])

    init(_ answers: [String: @Sendable (Start) throws(ProgramError) -> ChildProcess.Ending]) { self.answers = answers }

    convenience init(_ name: String, _ output: String, status: Int32 = 0) {
        self.init([name: { _ in .init(status: status, output: Array(output.utf8)) }])
    }

    var starts: [Start] { all.withLock { $0 } }

    var runner: ProgramRunner {
        ProgramRunner(find: { self.answers[$0] == nil ? nil : "/bin/\($0)" }) {
            path, arguments, input, variables throws(ProgramError) in
            let name = String(path.dropFirst("/bin/".count))
            let start = Start(
                name: name, arguments: arguments, input: String(decoding: input, as: UTF8.self), variables: variables)
            self.all.withLock { $0.append(start) }
            guard let answer = self.answers[name] else { throw .failed(program: path, reason: "not installed") }
            return try answer(start)
        }
    }
}

private func session(_ names: String...) -> DesktopSession { DesktopSession { names.contains($0) ? "x" : nil } }

/// A notification service, with the notifications that it was asked to show.
private final class Service: NotificationService {
    struct Shown: Equatable {
        let title: String
        let body: String
        let actions: [String]
        let milliseconds: Int32
    }

    private let number: UInt32?
    private let isReachable: Bool
    private let all = Mutex<(shown: [Shown], closed: [UInt32])>(([], []))
    private let listener = Mutex<(@Sendable (UInt32, String) -> Void)?>(nil)
    private let (isListening, isOver) = (Semaphore(), Semaphore())
    /// What happens while a notification is being shown.
    let meanwhile = Mutex<(@Sendable () -> Void)?>(nil)

    /// Gives each notification this number, or refuses it.
    init(_ number: UInt32?, isReachable: Bool = true) { (self.number, self.isReachable) = (number, isReachable) }

    var shown: [Shown] { all.withLock { $0.shown } }
    var closed: [UInt32] { all.withLock { $0.closed } }

    func notify(_ title: String, _ body: String, actions: [String], milliseconds: Int32) -> UInt32? {
        all.withLock {
            $0.shown.append(Shown(title: title, body: body, actions: actions, milliseconds: milliseconds))
        }
        meanwhile.withLock { $0 }?()
        return number
    }

    func close(_ number: UInt32) { all.withLock { $0.closed.append(number) } }

    func watch() -> Bool { isReachable }

    func listen(_ pressed: @escaping @Sendable (UInt32, String) -> Void) {
        listener.withLock { $0 = pressed }
        isListening.post()
        isOver.wait()
    }

    func end() { isOver.post() }

    /// Waits until somebody listens; returns how to press a button.
    func buttons() throws -> @Sendable (UInt32, String) -> Void {
        isListening.wait()
        return try #require(listener.withLock { $0 })
    }
}

struct NotificationTests {
    @Test func needsSession() throws {
        #expect(throws: DesktopError.noSession) { try DesktopNotifications(session()) }
        #expect(throws: DesktopError.noSession) {
            _ = try NotificationButtons(
                DesktopNotifications(Service(7, isReachable: false)), pressed: { _, _ in }, ended: {})
        }
    }

    @Test func shows() {
        let service = Service(7)
        let notifications = DesktopNotifications(service)
        let number = notifications.show(
            "it's", ["<b>a & b</b>", "c\\d"], actions: [("show", "Show")], milliseconds: 5)
        notifications.close(7)
        #expect(number == 7 && service.closed == [7])
        let wanted = Service.Shown(
            title: "it's", body: "&lt;b&gt;a &amp; b&lt;/b&gt;\nc\\d", actions: ["show", "Show"], milliseconds: 5)
        expect(service.shown, is: [wanted])
    }

    @Test func isRefused() throws {
        let notifications = DesktopNotifications(Service(nil))
        expect(notifications.show("a", [], milliseconds: 0), is: nil)
        let buttons = try NotificationButtons(notifications, pressed: { _, _ in }, ended: {})
        #expect(throws: DesktopError.notificationRefused) { try buttons.show("a", "a", [], actions: []) }
        buttons.end()
    }

    @Test func reportsButtons() async throws {
        let (events, event) = AsyncStream.makeStream(of: String.self)
        let service = Service(7)
        let buttons = try NotificationButtons(
            DesktopNotifications(service), pressed: { event.yield("\($0) \($1)") }, ended: { event.yield("ended") })
        let press = try service.buttons()
        press(7, "before any is shown")
        // A button is pressed before the number of its notification is known.
        let isPressed = Semaphore()
        service.meanwhile.withLock {
            $0 = {
                _ = SystemThread.start {
                    press(7, "show")
                    isPressed.post()
                }
            }
        }
        try buttons.show("first", "a", [], actions: [("show", "Show")])
        isPressed.wait()
        press(8, "show")
        press(7, "decline")
        buttons.close("second")
        #expect(service.closed.isEmpty)
        buttons.close("first")
        expect(service.closed, is: [7])
        press(7, "show")
        service.end()
        var all: [String] = []
        for await event in events {
            all.append(event)
            if event == "ended" { break }
        }
        expect(all, is: ["first show", "first decline", "ended"])
    }
}

struct TouchNotifierTests {
    @Test func showsAndCloses() throws {
        let service = Service(3)
        let notifier = TouchNotifier(.desktop(DesktopNotifications(service)), Programs([:]).runner) { _ in
            Issue.record("it failed")
        }
        notifier.begin("touch the key", for: "sign in")
        notifier.end()
        notifier.finish()
        let wanted = Service.Shown(title: "Touch the key", body: "sign in", actions: [], milliseconds: 0)
        #expect(service.shown == [wanted] && service.closed == [3])
    }

    @Test func runsCommands() throws {
        let programs = Programs("sh", "")
        let notifier = TouchNotifier(.command("mine"), programs.runner) { _ in Issue.record("it failed") }
        notifier.begin("touch the key", for: "sign in")
        notifier.end()
        notifier.finish()
        let events = try programs.starts.map { try JSONValue(parsing: Array($0.input.utf8)) }
        expect(programs.starts.map(\.arguments), is: [["-c", "mine"], ["-c", "mine"]])
        #expect(
            events.map { $0["event"] } == ["touch", "done"] && events.map { $0["reason"] } == ["sign in", "sign in"])
        expect(events.map { $0["message"] }, is: ["touch the key", .null])
    }

    @Test(arguments: [0, 1, 2]) func failsOnce(_ kind: Int) throws {
        let programs =
            kind == 1
            ? Programs(["sh": { _ throws(ProgramError) in throw .timedOut(program: "sh") }])
            : Programs("sh", "", status: 4)
        let errors = Mutex<[DesktopError]>([])
        let means: TouchNotifier.Means =
            kind == 2 ? .desktop(DesktopNotifications(Service(nil))) : .command("mine")
        let notifier = TouchNotifier(means, programs.runner) { error in errors.withLock { $0.append(error) } }
        for _ in 0..<2 {
            notifier.begin("touch", for: "")
            notifier.end()
        }
        notifier.finish()
        let expected: [DesktopError] = [.command(status: 4), .program(.timedOut(program: "sh")), .notificationRefused]
        expect(errors.withLock { $0 }, is: [expected[kind]])
    }

    @Test func doesNotWaitWhenCancelled() {
        let queue = WorkQueue()
        let cancellation = Cancellation()
        let gate = Semaphore()
        queue.add { gate.wait() }
        cancellation.cancel()
        queue.finish(by: .after(.seconds(60), cancellation: cancellation))
        gate.post()
        queue.finish(by: .after(.seconds(60)))
    }
}

struct ClipboardTests {
    @Test func copiesInWayland() throws {
        let programs = Programs([
            "wl-copy": { _ in .init(status: 0, output: []) }, "wl-paste": { _ in .init(status: 0, output: [0x31]) },
            "xclip": { _ in .init(status: 1, output: []) },
        ])
        let clipboard = try Clipboard(session("WAYLAND_DISPLAY", "DISPLAY"), programs.runner)
        try clipboard.put("1")
        try clipboard.clear(ifHolding: [0x32])
        #expect(programs.starts.map(\.name) == ["wl-copy", "wl-paste"] && programs.starts[0].input == "1")
        try clipboard.clear(ifHolding: [0x31])
        expect(programs.starts.last?.arguments, is: ["--clear"])
    }

    @Test func copiesInX11() throws {
        let programs = Programs("xclip", "1")
        let clipboard = try Clipboard(session("DISPLAY"), programs.runner)
        try clipboard.put("1")
        try clipboard.clear(ifHolding: [0x31])
        let selection = ["-selection", "clipboard"]
        expect(programs.starts.map(\.arguments), is: [selection, selection + ["-o"], selection])
        expect(programs.starts.map(\.input), is: ["1", "", ""])
    }

    @Test func isMissing() throws {
        for session in [session(), session("WAYLAND_DISPLAY")] {
            #expect(throws: DesktopError.noClipboard) { try Clipboard(session, Programs("xclip", "").runner) }
        }
        let unreachable = try Clipboard(session("DISPLAY"), Programs("xclip", "", status: 1).runner)
        #expect(throws: DesktopError.clipboardUnreachable(program: "/bin/xclip")) { try unreachable.put("1") }
        let late = Programs(["xclip": { _ throws(ProgramError) in throw .timedOut(program: "xclip") }])
        #expect(throws: DesktopError.program(.timedOut(program: "xclip"))) {
            try Clipboard(session("DISPLAY"), late.runner).put("1")
        }
    }
}

struct ScreenLockTests {
    /// A lock that answers this, and how often it was asked.
    private func lock(_ answer: Bool?) -> (lock: ScreenLock, count: @Sendable () -> Int) {
        let asked = Counter()
        return (
            ScreenLock {
                asked.number.withLock { $0 += 1 }
                return answer
            }, { asked.number.withLock { $0 } }
        )
    }

    private final class Counter: Sendable {
        let number = Mutex(0)
    }

    @Test(arguments: [true, false]) func asksOnceASecond(_ isLocked: Bool) {
        let (first, count) = lock(isLocked)
        var lock = first
        let answers = [lock.isLocked(), lock.isLocked()]
        #expect(answers == [isLocked, isLocked] && count() == 1)
    }

    @Test func isSilent() {
        let (first, count) = lock(nil)
        var lock = first
        let answers = [lock.isLocked(), lock.isLocked()]
        #expect(answers == [false, false] && count() == 1)
    }
}

struct PromptProgramTests {
    private static let window = session("DISPLAY")

    @Test func followsOpenSSH() {
        let programs = Programs("ssh-askpass", "").runner
        func chosen(
            _ askpass: String?, _ requirement: String?, _ session: DesktopSession, _ terminal: Bool
        )
            -> PromptProgram?
        {
            PromptProgram.askpass(askpass, requirement: requirement, session, hasTerminal: terminal, programs)
        }
        expect(chosen("/a", nil, Self.window, false), is: .askpass("/a"))
        expect(chosen(nil, nil, Self.window, false), is: .askpass("/bin/ssh-askpass"))
        #expect(chosen("/a", nil, Self.window, true) == nil && chosen("/a", "never", Self.window, false) == nil)
        expect(chosen("/a", "prefer", Self.window, true), is: .askpass("/a"))
        expect(chosen("/a", "prefer", session(), false), is: nil)
        #expect(
            chosen("/a", "force", session(), true) == .askpass("/a") && chosen(nil, "force", session(), true) == nil)
    }

    @Test func asksAskpass() {
        func secret(_ output: String, status: Int32 = 0) -> Result<[UInt8], PromptFailure> {
            let programs = Programs("a", output, status: status)
            defer { expect(programs.starts.map(\.arguments), is: [["PIN: "]]) }
            return Result { () throws(PromptFailure) in
                try PromptProgram.askpass("/bin/a").secret("PIN", programs.runner, .seconds(9)).value.copyBytes()
            }
        }
        expect(secret("1234\n"), is: .success(Array("1234".utf8)))
        #expect(secret("\n") == .failure(.declined) && secret("1234", status: 1) == .failure(.declined))
        let missing = #expect(throws: PromptFailure.self) {
            try PromptProgram.askpass("/bin/none").secret("PIN", Programs([:]).runner, .seconds(9))
        }
        #expect(missing != .declined, "a program that cannot be run is not a user who declines")
    }

    private func agrees(_ program: PromptProgram, _ programs: Programs) -> Bool {
        (try? program.agree("sign?", programs.runner, .seconds(9))) != nil
    }

    @Test(
        arguments: [("", 0, true), ("Yes\n", 0, true), ("no\n", 0, false), ("", 1, false)] as [(String, Int32, Bool)])
    func confirmsByAskpass(_ output: String, _ status: Int32, _ isConfirmed: Bool) {
        let programs = Programs("a", output, status: status)
        expect(agrees(.askpass("/bin/a"), programs), is: isConfirmed)
        expect(programs.starts.map(\.variables), is: [["SSH_ASKPASS_PROMPT": "confirm"]])
    }

    @Test func asksPinentry() throws {
        let answer = Programs("pinentry", "OK\nOK\nOK\nOK\nD 12%25\nOK\nOK\n")
        let program = PromptProgram.pinentry("/bin/pinentry", PinentryTerminal { _ in nil })
        let secret = try program.secret("sign", answer.runner, .seconds(9))
        expect(secret.value.copyBytes(), is: Array("12%".utf8))
        expect(answer.starts[0].input, is: "SETTIMEOUT 8\nSETDESC sign\nSETPROMPT PIN:\nGETPIN\nBYE\n")
        #expect(agrees(program, Programs("pinentry", "OK\nOK\nOK\nOK\nOK\n")))
        #expect(!agrees(program, Programs("pinentry", "OK\nOK\nOK\nD 1\nOK\nOK\n")), "data is not an answer")
        #expect(!agrees(program, Programs("pinentry", "OK\nOK\nOK\nERR 1 cancelled\n")))
        #expect(!agrees(program, Programs([:])))
    }
}
