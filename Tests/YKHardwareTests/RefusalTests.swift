// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import YKTestSupport
import YKTransport

@testable import YKHardware

extension RealPCSCD {
    /// The real library before a service that is missing, hostile, or of another time.
    @Suite struct RefusalTests {
        @Test func aServiceThatIsNotThereIsNotRunning() throws {
            let service = try RealService.at("/tmp/ykit-no-such-folder/pcscd.comm")
            #expect(throws: LinkError.serviceNotRunning) { try service.readers(.soon) }
            #expect(throws: LinkError.serviceNotRunning) {
                try service.connect(reader: "any", share: .shared, deadline: .soon)
            }
        }

        @Test func aRefusalOfTheServiceIsToldFromARefusalOfTheCard() throws {
            let daemon = try HostileDaemon(.hangsUp)
            let service = try RealService.at(daemon.path)
            #expect(throws: LinkError.accessDenied(.service)) { try service.readers(.soon) }
            let other = try HostileDaemon(.refusesCards)
            #expect(throws: LinkError.accessDenied(.card(reader: "any"))) {
                try RealService.at(other.path).connect(reader: "any", share: .shared, deadline: .soon)
            }
            daemon.end()
            other.end()
        }

        @Test func anotherVersionIsAMismatch() throws {
            let daemon = try HostileDaemon(.speaksOtherVersion)
            let service = try RealService.at(daemon.path)
            #expect(throws: LinkError.serviceMismatch) { try service.readers(.soon) }
            daemon.end()
        }

        @Test func whatIsAtTheSocketIsFoundOut() throws {
            let silent = try HostileDaemon(.saysNothing)
            expect(ServiceProbe.ask(silent.path, patience: 20), is: .silent)
            silent.end()
            expect(ServiceProbe.ask(silent.path), is: .absent)
            expect(ServiceProbe.ask(String(repeating: "x", count: 200)), is: .absent)
            let refusing = try HostileDaemon(.hangsUp)
            expect(ServiceProbe.ask(refusing.path), is: .hangsUp)
            refusing.end()
            let sandbox = try PCSCDSandbox()
            expect(ServiceProbe.ask(sandbox.socketPath), is: .answers)
        }

        @Test func aMissingLibraryIsAServiceThatIsNotInstalled() throws {
            #expect(throws: LinkError.serviceNotInstalled) { try PCSCLibrary.load("libykit-nowhere.so.1") }
            #expect(throws: LinkError.serviceNotInstalled) { try PCSCLibrary.load("libm.so.6") }
        }

        @Test func theMachinesOwnServiceAnswersOrSaysWhyNot() throws {
            do throws(LinkError) {
                for reader in try PCSC.readers() { #expect(!reader.name.isEmpty) }
            } catch {
                let expected: [LinkError] = [
                    .serviceNotRunning, .serviceNotInstalled, .accessDenied(.service), .serviceMismatch,
                ]
                #expect(expected.contains(error))
            }
            #expect(throws: LinkError.self) { try PCSC.connect(reader: "nowhere", deadline: .soon) }
        }
    }
}
