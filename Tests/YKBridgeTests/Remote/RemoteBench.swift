// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import Testing
import YKCrypto
import YKFIDO
import YKInteraction
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKBridge

/// A pair of connected sockets.
struct Sockets {
    let (one, other): (Int32, Int32)

    init(_ kind: __socket_type = SOCK_STREAM) {
        signal(SIGPIPE) { _ in }  // Not ignored, which programs that other tests start would inherit.
        var ends: [Int32] = [-1, -1]
        socketpair(AF_UNIX, Int32(kind.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
        (one, other) = (ends[0], ends[1])
    }
}

/// The kernel at the far end, and a program there that uses the device.
final class FarKernel: Sendable {
    let served: Int32
    private let own: Int32
    private let state = Mutex((isPluggedIn: false, isGone: false, numbers: [UInt32]()))

    init() {
        let sockets = Sockets(SOCK_SEQPACKET)
        (served, own) = (sockets.one, sockets.other)
    }

    deinit { close(own) }

    /// Whether the device is there.
    var isPluggedIn: Bool {
        for _ in 0..<1000 where receive(0) == nil { break }
        return state.withLock { $0.isPluggedIn && !$0.isGone }
    }

    /// Its vendor and product number.
    var numbers: [UInt32] { state.withLock { $0.numbers } }

    /// Waits for the device to come, or to go.
    func waits(isPluggedIn wanted: Bool) async -> Bool {
        for _ in 0..<6000 {
            if isPluggedIn == wanted { return true }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    func write(_ report: [UInt8]) {
        let data = [0] + report
        let event = [6, 0, 0, 0] + data + [UInt8](repeating: 0, count: 4096 - data.count) + [65, 0, 1]
        _ = send(own, event, event.count, Int32(MSG_NOSIGNAL))
    }

    /// Returns a report of the device: empty if none came in time, `nil` once the device is gone.
    func receive(_ milliseconds: Int32) -> [UInt8]? {
        if state.withLock({ $0.isGone }) { return nil }
        var entry = pollfd(fd: own, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, milliseconds) > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = recv(own, &bytes, bytes.count, 0)
        let kind = count > 0 ? bytes[0] : 1
        state.withLock { state in
            if kind == 11 {
                // struct uhid_create2_req: the numbers follow name, location, serial number, size and bus.
                let numbers = [264, 268].map { at in
                    (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[at + $1]) << UInt32(8 * $1) }
                }
                (state.isPluggedIn, state.numbers) = (true, numbers)
            }
            if kind == 1 { state.isGone = true }
        }
        if kind == 1 { return nil }
        return kind == 12 ? Array(bytes[6..<70]) : []
    }
}

/// A program's connection to the device at the far end.
final class FarProgram: ReportLink {
    let identity = ReportIdentity(path: "remote")
    private let kernel: FarKernel

    init(_ kernel: FarKernel) { self.kernel = kernel }

    func write(_ report: [UInt8], deadline: Deadline) throws(LinkError) { kernel.write(report) }

    func read(deadline: Deadline) throws(LinkError) -> [UInt8] {
        while !deadline.isOver, !deadline.isCancelled {
            guard let report = kernel.receive(20) else { throw .removed }
            if report.count == 64 { return report }
        }
        if deadline.isCancelled { throw .cancelled }
        throw .timedOut("a report")
    }

    func close() {}
}

/// Whoever is asked at the near end.
final class NearUser: Person {
    private struct State {
        var answers: [Bool?]
        var asked: [Ceremony] = []
        var withdrawn = 0
        var patience = Duration.seconds(60)
        var choice: Int?
        var offered: [[String]] = []
    }
    private let state: Mutex<State>

    /// - Parameter answers: The answers, of which the last one is repeated; `nil` for none.
    init(_ answers: Bool?...) { state = Mutex(State(answers: answers)) }

    var asked: [Ceremony] { state.withLock { $0.asked } }
    /// Which of several accounts is chosen; `nil` for none.
    var choice: Int? {
        get { state.withLock { $0.choice } }
        set { state.withLock { $0.choice = newValue } }
    }
    /// The accounts that could be chosen, for each question.
    var offered: [[String]] { state.withLock { $0.offered } }
    var withdrawn: Int { state.withLock { $0.withdrawn } }
    /// How long a question without an answer waits for one.
    var patience: Duration {
        get { state.withLock { $0.patience } }
        set { state.withLock { $0.patience = newValue } }
    }

    nonisolated(nonsending) func secret(_ request: CredentialRequest) async throws(Declined) -> SharedSecret {
        throw .nobodyToAsk
    }

    nonisolated(nonsending) func answer<Q: Question>(_ question: Q) async throws(Declined) -> Q.Answer {
        if question is AccountQuestion, case .pick(let choices) = question.way {
            state.withLock { $0.offered.append(choices.map(\.label)) }
            guard let choice = state.withLock({ $0.choice }) else { throw .no }
            return choices[choice].answer
        }
        guard let asked = question as? BridgeQuestion, let ceremony = asked.ceremony,
            case .agree(let answer) = question.way
        else { throw .nobodyToAsk }
        let given: Bool? = state.withLock { state in
            state.asked.append(ceremony)
            return state.answers.count > 1 ? state.answers.removeFirst() : state.answers.first ?? nil
        }
        if let given {
            guard given else { throw .no }
            return answer
        }
        do { try await Task.sleep(for: patience) } catch {
            state.withLock { $0.withdrawn += 1 }
            throw .withdrawn
        }
        throw .timedOut
    }
}

extension BridgeQuestion {
    /// What is asked for the host or the program of the tests.
    fileprivate var ceremony: Ceremony? {
        switch self {
        case .remote(let ceremony, "lab"), .local(let ceremony, programs: ["browser"]): ceremony
        default: nil
        }
    }
}

/// Both ends, with the kernel played at the far one and a virtual key at the near one.
final class RemoteBench: Sendable {
    let kernel = FarKernel()
    let user: NearUser
    let key: VirtualKey
    let near: RemoteChannel
    let far: RemoteChannel
    private let sockets: [Int32]
    private let stop = Cancellation()
    private let farStop = Cancellation()
    private let log = Mutex((events: [RemoteEvent](), far: Result<Void, RemoteError>?.none))
    private let pins: Mutex<[String]>
    private let policy: RemotePolicy
    private let guarding: GuardPolicy?
    private let sites: [String]
    private let isCard: Bool
    /// The key's service at the near end.
    let opened = Mutex<FIDOService?>(nil)
    let farEnded = Semaphore()
    private let relays = Semaphore()

    /// - Parameters:
    ///   - pins: What is entered at the near end, in order.
    ///   - isCard: Whether the key is a card in a reader.
    ///   - delay: How long each direction of the connection takes.
    ///   - guarding: The rules of a guard of this machine, instead of those for another one.
    ///   - sites: The sites that a guard used before.
    init(
        _ key: VirtualKey, _ user: NearUser = NearUser(true), pins: [String] = [],
        policy: RemotePolicy = RemotePolicy(), isCard: Bool = false, delay: Duration? = nil,
        guarding: GuardPolicy? = nil, sites: [String] = []
    ) {
        (self.key, self.user, self.policy, self.isCard, self.guarding) = (key, user, policy, isCard, guarding)
        self.sites = sites
        self.pins = Mutex(pins)
        let wire = Sockets()
        guard let delay else {
            sockets = [wire.one, wire.other]
            near = RemoteChannel(input: wire.one, output: wire.one)
            far = RemoteChannel(input: wire.other, output: wire.other)
            return
        }
        let second = Sockets()
        sockets = [wire.one, wire.other, second.one, second.other]
        near = RemoteChannel(input: wire.one, output: wire.one)
        far = RemoteChannel(input: second.other, output: second.other)
        for (from, to) in [(wire.other, second.one), (second.one, wire.other)] {
            Self.relay(from, to, delay) { [relays] in relays.post() }
        }
    }

    deinit {
        // The numbers of closed sockets are used again, so nobody may still read from them.
        cut()
        if sockets.count > 2 { for _ in 0..<2 { relays.wait() } }
        for socket in sockets { close(socket) }
    }

    private static func relay(_ from: Int32, _ to: Int32, _ delay: Duration, ended: @escaping @Sendable () -> Void) {
        _ = SystemThread.start {
            var block = [UInt8](repeating: 0, count: 65536)
            while true {
                let count = read(from, &block, block.count)
                guard count > 0 else { break }
                usleep(UInt32(delay / .microseconds(1)))
                guard write(to, block, count) == count else { break }
            }
            shutdown(to, Int32(SHUT_WR))
            ended()
        }
    }

    var events: [RemoteEvent] { log.withLock { $0.events } }
    var farResult: Result<Void, RemoteError>? { log.withLock { $0.far } }

    /// Runs both ends around `body`, then ends them.
    ///
    /// - Returns: How the near end ended.
    @discardableResult func run(
        hello: RemoteHello = RemoteHello(program: "1"), patience: Duration = .seconds(120),
        questionTime: Duration = .seconds(60), _ body: (RemoteBench) async throws -> Void
    ) async throws -> Result<Void, RemoteError> {
        startFar(hello, patience)
        let near = Task { await self.nearEnd(questionTime) }
        do { try await body(self) } catch {
            stop.cancel()
            farStop.cancel()
            _ = await near.value
            throw error
        }
        stop.cancel()
        let result = await near.value
        try await onThread { [self] in #expect(farEnded.wait(milliseconds: 60_000)) }
        return result
    }

    private func startFar(_ hello: RemoteHello, _ patience: Duration) {
        let (kernel, far, stop, hasU2F) = (kernel, far, farStop, guarding != nil)
        _ = SystemThread.start { [weak self] in
            var end = FarEnd(far, hello, owner: "alice", cancellation: stop, report: { _ in }) { (kernel.served, 0) }
            (end.patience, end.hasU2F) = (patience, hasU2F)
            var result = Result<Void, RemoteError>.success(())
            do throws(RemoteError) { try end.run() } catch { result = .failure(error) }
            self?.log.withLock { $0.far = result }
            self?.farEnded.post()
        }
    }

    func nearEnd(_ questionTime: Duration = .seconds(60)) async -> Result<Void, RemoteError> {
        var policy = policy
        policy.questionTime = questionTime
        user.patience = questionTime
        let rules: any NearRules =
            if let guarding { GuardRules(policy: guarding, programs: { ["browser"] }, sites: sites) } else {
                RemoteRules(policy: policy, host: "lab")
            }
        let end = NearEnd(
            rules, near, RemoteHello(program: "1"), user, [stop],
            { event in self.log.withLock { $0.events.append(event) } })
        do throws(RemoteError) {
            guard let service = try? await service() else { throw .noFIDO2 }
            try await end.run(service) { try? await self.service() }
            return .success(())
        } catch { return .failure(error) }
    }

    private func service() async throws -> FIDOService {
        let interaction = FIDOInteraction { _ in
            let pin = self.pins.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            return pin.map { secret($0) }
        }
        let service =
            if isCard {
                try await FIDOService.open(
                    card: CardChannel(link: key.link(), environment: .instant), interaction: interaction)
            } else {
                try await FIDOService.open(hid: key.reportLink(), environment: .instant, interaction: interaction)
            }
        opened.withLock { $0 = service }
        return service
    }

    /// Cuts the connection.
    func cut() { for socket in sockets { shutdown(socket, Int32(SHUT_RDWR)) } }

    /// A client at the far end.
    func client() async throws -> FIDOService {
        #expect(await kernel.waits(isPluggedIn: true))
        nonisolated(unsafe) let program: any ReportLink = FarProgram(kernel)
        return try await FIDOService.open(hid: program, environment: ServiceEnvironment(timeout: .seconds(600)))
    }

    /// The answer to a message of the far end that no client sends.
    func ask(_ service: FIDOService, _ message: [UInt8]) async throws -> UInt8 {
        do throws(FIDOError) { return try await service.exchange(raw: message)[0] } catch { return error.farStatus }
    }
}

extension FIDOFeatures.Version {
    /// A key of this version, with a PIN.
    func key(pin: String?) async throws -> VirtualKey {
        var profile = DeviceProfile(serial: 1)
        profile.fido.version = self
        let key = VirtualKey(try .new(profile))
        guard let pin else { return key }
        let service = try await FIDOService.open(hid: key.reportLink(), environment: .instant)
        try await service.setPIN(secret(pin))
        await service.close()
        return key
    }
}
