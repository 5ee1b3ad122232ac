// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKInteraction
public import YKTransport

/// The near end of a remote bridge: serves the requests of a far end with the key here. A `RemotePolicy` decides what
/// a far end may request, and the user is asked before the key is used.
public struct NearEnd: Sendable {
    let channel: RemoteChannel
    private let hello: RemoteHello
    let rules: any NearRules
    let person: any Person
    private let cancellations: [Cancellation]
    let report: @Sendable (RemoteEvent) -> Void
    /// How long the key is held for a ceremony of several messages.
    var holdTime = Duration.seconds(10)
    /// How long the key is held for a ceremony that the user has not agreed to, and how often.
    var (unaskedTime, unaskedPause) = (Duration.seconds(2), Duration.seconds(10))
    /// The number of requests allowed at once, and the pause between later ones.
    var (burst, pace) = (20, Duration.milliseconds(200))

    /// Creates a near end; nothing happens before ``run(_:reopen:)``.
    ///
    /// - Parameters:
    ///   - host: The name of the far end, for the user: as the user typed it, not as the far end names itself.
    ///   - input: The descriptor for reading the far end's frames; it is made non-blocking.
    ///   - output: The descriptor for writing frames to the far end; it is made non-blocking.
    ///   - program: The version of this program, for the far end.
    ///   - policy: What the far end may do.
    ///   - person: Who is asked before the key is used.
    ///   - cancellation: Ends ``run(_:reopen:)``.
    ///   - report: Called for each event, on any thread.
    public init(
        host: String, input: Int32, output: Int32, program: String, policy: RemotePolicy, person: any Person,
        cancellation: Cancellation, report: @escaping @Sendable (RemoteEvent) -> Void = { _ in }
    ) {
        self.init(
            host: host, RemoteChannel(input: input, output: output), RemoteHello(program: program), policy, person,
            cancellation, report)
    }

    /// Creates the user's side of a guard, which serves the programs of this machine; nothing happens before
    /// ``run(_:reopen:)``.
    ///
    /// - Parameters:
    ///   - policy: What programs may do.
    ///   - programs: Returns the names of the programs that have the device open, of which one is asking.
    ///   - sites: Sites that were used before, by which U2F messages are named.
    ///   - socket: The connection to the system part; it is made non-blocking.
    ///   - program: The version of this program.
    ///   - person: Who is asked before the key is used.
    ///   - cancellations: Each ends ``run(_:reopen:)``.
    ///   - report: Called for each event, on any thread.
    package init(
        guarding policy: GuardPolicy, programs: @escaping @Sendable () -> [String], sites: [String] = [],
        socket: Int32, program: String, person: any Person, cancellations: [Cancellation],
        report: @escaping @Sendable (RemoteEvent) -> Void = { _ in }
    ) {
        self.init(
            GuardRules(policy: policy, programs: programs, sites: sites),
            RemoteChannel(input: socket, output: socket, silence: nil),
            RemoteHello(program: program), person, cancellations, report)
    }

    package init(
        host: String, _ channel: RemoteChannel, _ hello: RemoteHello, _ policy: RemotePolicy,
        _ person: any Person, _ cancellation: Cancellation,
        _ report: @escaping @Sendable (RemoteEvent) -> Void
    ) {
        self.init(RemoteRules(policy: policy, host: host), channel, hello, person, [cancellation], report)
    }

    init(
        _ rules: any NearRules, _ channel: RemoteChannel, _ hello: RemoteHello, _ person: any Person,
        _ cancellations: [Cancellation], _ report: @escaping @Sendable (RemoteEvent) -> Void
    ) {
        (self.rules, self.channel, self.hello) = (rules, channel, hello)
        (self.person, self.cancellations, self.report) = (person, cancellations, report)
    }

    /// Serves until the far end ends the connection or it is cut, or until it is cancelled. Then the pending operation
    /// is cancelled, and the connection to the key closed.
    ///
    /// - Parameters:
    ///   - service: The key, which must have FIDO2.
    ///   - reopen: Opens the key again after it was removed; `nil` if it is not attached.
    /// - Throws: `RemoteError` unless the far end is done, or it was cancelled.
    public func run(
        _ service: FIDOService, reopen: () async -> FIDOService? = { nil }
    ) async throws(RemoteError) {
        let info: [UInt8]
        do throws(FIDOError) {
            guard await service.hasCTAP2 else { throw .unsupported("FIDO2") }
            info = rules.presented(try await service.info())
        } catch { throw .noFIDO2 }
        let isCard = await service.profile.carrier == .card
        await service.rest()
        let authenticator = NearAuthenticator(self, alwaysAsks: isCard)
        var service = service
        let failure = await serve(.key(info)) { request in
            if case .closed = service.state, let other = await reopen() { service = other }
            return await self.answer(request, service) { await authenticator.answer($0.message, $0.number, $1) }
        }
        await service.close()
        if let failure { throw failure }
    }

    /// The same with applications of the key's card, for which a reader is shown at the far end instead of a security key.
    /// From the first command of a program there until it leaves the card, no other program here may use the card.
    ///
    /// - Parameters:
    ///   - card: The card. A touch that a command waits for has to come within its time for an operation.
    ///   - applications: What may be selected.
    ///   - pins: Where PINs come from.
    ///   - reopen: Opens the card again after it was removed; `nil` if it is not there.
    /// - Throws: `RemoteError` unless the far end is done, or it was cancelled.
    public func run(
        card: CardService, _ applications: [RemoteApplication], pins: RemotePINs,
        reopen: () async -> CardService? = { nil }
    ) async throws(RemoteError) {
        let answers = NearCard(self, applications, pins)
        let atr = await card.identity.atr
        var card = card
        let failure = await serve(.card(atr)) { request in
            if case .closed = card.state, let other = await reopen() {
                card = other
                answers.restart()
            }
            return await self.answer(request, card) { await answers.answer($0.message, $1) }
        }
        await card.close()
        if let failure { throw failure }
    }

    /// Shows the far end what there is, and answers its requests until the end; returns why it failed.
    private func serve(
        _ offer: RemoteFrame, _ answer: (NearReader.Request) async -> [UInt8]
    ) async -> RemoteError? {
        let (events, stream) = AsyncStream.makeStream(of: NearReader.Event.self)
        let reader = NearReader(channel, hello, offer, cancellations, stream)
        guard reader.start() else { return .noThread }
        defer { reader.end() }
        var failure: RemoteError?
        for await event in events {
            switch event {
            case .greeted(let program): report(.connected(program: program))
            case .request(let request): reader.answered(request, await answer(request))
            case .ended(let error): failure = error
            }
        }
        return failure
    }

    /// Runs a request in a task that is cancelled by the far end, or when the connection ends.
    private func answer<Service: Sendable>(
        _ request: NearReader.Request, _ service: Service,
        _ body: @escaping @Sendable (NearReader.Request, Service) async -> [UInt8]
    ) async -> [UInt8] {
        let work = Task(executorPreference: TaskThread.shared) { await body(request, service) }
        request.cancellation.onCancel { work.cancel() }
        return await work.value
    }
}
