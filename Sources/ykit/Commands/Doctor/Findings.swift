// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKHardware
import YKManagement
import YKTransport

/// What was seen of a machine and its keys; the ladder draws its conclusions from this and nothing else.
struct Findings {
    /// The surroundings.
    var machine: MachineKind = .plain
    /// What is on the USB; `nil` where the kernel does not show it.
    var usb: [USBPresence]? = []
    /// The security keys among the HID devices.
    var devices: [HIDDevice] = []
    /// What is known of their nodes, by path.
    var nodes: [String: NodeFacts] = [:]
    /// What the udev rule has done for a node that may not be opened.
    var rule: (String) -> UDevRule = { UDevRule(for: $0) }
    /// The readers, or why there are none to be had.
    var readers: Result<[ReaderStatus], LinkError> = .success([])
    /// What the keys said that could be asked, by reader or path.
    var keys: [(place: String, identity: Result<DeviceIdentity, ManagementError>)] = []

    /// The devices on the bus that are security keys, as far as numbers, names and interfaces tell.
    var usbKeys: [USBPresence] {
        let fido = Set(devices.compactMap(\.usbPath))
        return (usb ?? []).filter { device in
            let identity = DeviceIdentity(vendor: device.vendor, product: device.product, name: device.name)
            return identity.maker != .unknown || fido.contains(device.port)
                || device.interfaces.contains { $0.kind == 0x0B }
        }
    }
}

extension World {
    /// Looks at the machine, and asks the keys that can be reached.
    func findings() -> Findings {
        var findings = Findings()
        if software == nil, replay == nil {
            findings.machine = .find()
            findings.usb = USBPresence.all()
            findings.devices = (try? HIDRaw.devices()) ?? []
            for device in findings.devices { findings.nodes[device.path] = NodeFacts(device.path) }
            findings.readers = readersFound()
            if case .success(let readers) = findings.readers {
                for reader in readers where reader.hasCard {
                    findings.keys.append((reader.name, identity(of: reader.name)))
                }
            }
            for device in findings.devices where device.isFIDO && device.access == .readable {
                findings.keys.append((device.path, identity(at: device)))
            }
        } else {
            findings.keys.append(("virtual", identityOfCard()))
        }
        return findings
    }

    private func readersFound() -> Result<[ReaderStatus], LinkError> {
        do { return .success(try readers()) } catch { return .failure(error) }
    }

    private func identity(of reader: String) -> Result<DeviceIdentity, ManagementError> {
        do {
            let link = try PCSC.connect(reader: reader, deadline: .after(.seconds(5)))
            return .success(try DeviceIdentity.read(CardChannel(link: link, environment: environment)))
        } catch let error as ManagementError { return .failure(error) } catch let error as LinkError {
            return .failure(.card(.link(error)))
        } catch { return .failure(.endlessInfo) }
    }

    private func identityOfCard() -> Result<DeviceIdentity, ManagementError> {
        do { return .success(try DeviceIdentity.read(try connect())) } catch let error as ManagementError {
            return .failure(error)
        } catch let error as LinkError { return .failure(.card(.link(error))) } catch { return .failure(.endlessInfo) }
    }

    private func identity(at device: HIDDevice) -> Result<DeviceIdentity, ManagementError> {
        do {
            return .success(try Self.identity(fido: device, environment, within: .seconds(2)))
        } catch let error as ManagementError { return .failure(error) } catch let error as LinkError {
            return .failure(.card(.link(error)))
        } catch let error as FIDOLinkError { return .failure(.fido(error, during: "INIT")) } catch {
            return .failure(.endlessInfo)
        }
    }
}
