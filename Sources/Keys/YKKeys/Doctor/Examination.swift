// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKManagement
import YKProtocols
import YKTransport
import YKWire

/// The examination of this machine and of the keys that it reaches.
struct Examination {
    let keys: KeyRing

    /// The timeout for one answer of a key.
    private static let patience = Duration.seconds(5)

    /// Examines the machine and queries the reachable keys.
    func facts() -> MachineFacts {
        var findings = MachineFacts()
        guard case .machine = keys.source else {
            findings.keys = [ask("virtual", .virtual) { try keys.channel() }]
            return findings
        }
        findings.machine = .find()
        findings.application = MachineKind.application()
        findings.login = .find()
        findings.isGroupPending = Accounts.isMember(of: UDevRule.group) && !Accounts.isRunning(as: UDevRule.group)
        findings.isClockKept = isClockKept()
        findings.usb = USBPresence.all()
        findings.devices = (try? keys.hardware.hidDevices()) ?? []
        addService(to: &findings)
        for path in findings.devices.map(\.path) + findings.slots.values.map(\.node) {
            findings.nodes[path] = NodeFacts(path)
        }
        askCards(&findings)
        askReports(&findings)
        return findings
    }

    private func addService(to findings: inout MachineFacts) {
        findings.hasUSBLibrary = DirectUSB.isInstalled
        findings.service = .find()
        findings.serviceVersion = findings.service.program.flatMap(version)
        do { findings.readers = .success(try keys.readers()) } catch { findings.readers = .failure(error) }
        findings.clients = PCSC.clients()
        var isAnswering = false
        if case .success = findings.readers { isAnswering = true }
        let found = try? keys.hardware.keys(
            asking: isAnswering, timeout: Self.patience, cancellation: keys.environment.cancellation)
        for key in found?.keys ?? [] {
            guard case .usb(let port) = key.place, let device = key.usbReader else { continue }
            findings.slots[port] = MachineFacts.Slot(
                node: device.node, access: device.access, holders: DirectUSB.holders(of: device),
                reader: key.reader?.name)
        }
    }

    /// The deadline of a program that only reports.
    private var brief: Deadline { .after(.seconds(10), cancellation: keys.environment.cancellation) }

    /// Parses the version that pcscd prints: `pcsc-lite version 1.9.9.`
    private func version(_ program: String) -> String? {
        guard let result = try? ChildProcess.run(program, ["--version"], deadline: brief) else { return nil }
        let line = String(decoding: result.output, as: UTF8.self).prefix { $0 != "\n" }
        guard let word = line.split(separator: " ").last, word.first?.isNumber ?? false else { return nil }
        return String(word.hasSuffix(".") ? word.dropLast() : word)
    }

    /// Asks systemd whether the clock follows a time service.
    private func isClockKept() -> Bool? {
        let command = "timedatectl show --property=NTPSynchronized --value 2>/dev/null"
        guard let result = try? ChildProcess.run("/bin/sh", ["-c", command], deadline: brief), result.status == 0
        else { return nil }
        return switch String(decoding: result.output, as: UTF8.self).prefix(while: { $0 != "\n" }) {
        case "yes": true
        case "no": false
        default: nil
        }
    }

    // MARK: the keys

    private var patient: ServiceEnvironment {
        var environment = keys.environment
        environment.timeout = min(environment.timeout, Self.patience)
        return environment
    }

    /// Queries the cards in readers; a card that the service does not list is accessed without the service.
    private func askCards(_ findings: inout MachineFacts) {
        let environment = patient
        var known: Set<String> = []
        if case .success(let readers) = findings.readers {
            for reader in readers where reader.hasCard && !reader.isMute && !reader.isExclusive {
                known.insert(reader.name)
                findings.keys.append(
                    ask(reader.name, .card) {
                        CardChannel(
                            link: try keys.hardware.connect(reader: reader.name, deadline: environment.deadline()),
                            environment: environment)
                    })
            }
        }
        let free = keys.hardware.usbDevices().filter { device in
            device.reader != nil && device.reader?.driver == nil && device.access == .readable
                && findings.slots[device.usbPath]?.reader == nil
        }
        for device in free {
            findings.keys.append(
                ask(device.usbPath, .direct) {
                    CardChannel(
                        link: try keys.hardware.connect(device, deadline: environment.deadline()),
                        environment: environment)
                })
        }
    }

    /// Queries the FIDO interfaces, and the OTP interfaces of keys that have no other.
    private func askReports(_ findings: inout MachineFacts) {
        for device in findings.devices where device.access == .readable {
            if device.isFIDO {
                findings.keys.append(
                    AskedKey(
                        device.path, .fido,
                        Self.result { try keys.identity(fido: device, within: .seconds(2)) }))
            } else if !findings.devices.contains(where: { $0.isFIDO && $0.usbPath == device.usbPath }),
                device.usbPath.map({ findings.slots[$0] == nil }) ?? true
            {
                findings.keys.append(
                    AskedKey(device.path, .otp, Self.result { try keys.identity(otp: device, within: Self.patience) }))
            }
        }
    }

    private static func result(_ body: () throws -> DeviceIdentity) -> Result<DeviceIdentity, KeyFailure> {
        do { return .success(try body()) } catch { return .failure(KeyFailure(error)) }
    }

    /// Reads a card's identity and its applications.
    private func ask(_ place: String, _ access: KeyFinding.Access, _ open: () throws -> CardChannel) -> AskedKey {
        let channel: CardChannel
        do { channel = try open() } catch { return AskedKey(place, access, .failure(KeyFailure(error))) }
        var key = AskedKey(place, access, Self.result { try .read(channel) })
        guard case .success(let identity) = key.identity else { return key }
        for (aid, capability) in CardApplications.all {
            guard let found = try? CardApplications.answer(of: aid, on: channel).found else { break }
            let isThere = !found.isEmpty
            key.applications.append((capability, found.contains(capability)))
            if found.contains(.u2f) { key.applications.append((.u2f, true)) }
            guard aid == .openPGP, isThere, let info = identity.info else { continue }
            let flaws = KnownFlaw.of(info).map(\.name)
            if flaws.contains(KnownFlaw.resetCode) { key.resetCodeTries = Self.resetCodeTries(channel) }
            if flaws.contains(KnownFlaw.openPGPPIN) { key.openPGPVersion = Self.openPGPVersion(channel) }
        }
        return key
    }

    /// Reads the version of a NEO's OpenPGP, in binary-coded decimal (instruction F1 of ykneo-openpgp); versions before
    /// 1.0.2 do not report it.
    private static func openPGPVersion(_ channel: CardChannel) -> FirmwareVersion? {
        guard let reply = try? channel.transmit(APDU(ins: OpenPGPProtocol.Instruction.getVersion)) else { return nil }
        guard reply.status == .ok, reply.data.count == 3 else { return FirmwareVersion(1, 0, 0) }
        let numbers = reply.data.map { $0 >> 4 * 10 + $0 & 0x0F }
        return FirmwareVersion(numbers[0], numbers[1], numbers[2])
    }

    /// Reads OpenPGP's PIN status (GET DATA C4): the sixth of its seven bytes is the retry counter of the reset code
    /// (OpenPGP card 3.4 §4.4.2).
    private static func resetCodeTries(_ channel: CardChannel) -> Int? {
        guard let reply = try? channel.transmit(APDU(ins: OpenPGPProtocol.Instruction.getData, p2: 0xC4, le: .max)),
            reply.status == .ok,
            reply.data.count == 7
        else { return nil }
        return Int(reply.data[5])
    }
}
