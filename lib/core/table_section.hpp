#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/enum_names.hpp"
#include "core/parameter_table.hpp"

namespace diacut {

/// What is said of a parameter.
struct Text {
  std::string_view unit;
  std::string_view meaning;
};

/// Adds the entries of one section, whose struct is the member `group` of Parameters.
template <class Group>
class Section {
 public:
  Section(std::vector<ParameterEntry>& entries, std::string_view table, Group Parameters::*group)
      : entries_(entries), table_(table), group_(group) {}

  void flag(std::string_view name, bool Group::*member, Text text) {
    add<bool>(name, FlagDomain{}, member, text);
  }

  template <class Integer>
  void integer(std::string_view name, Integer Group::*member, std::int64_t least, std::int64_t most,
               Text text) {
    static_assert(std::is_signed_v<Integer> && sizeof(Integer) <= sizeof(std::int64_t));
    add<std::int64_t>(name, IntegerDomain{least, most}, member, text);
  }

  void real(std::string_view name, double Group::*member, double least, double most, Text text) {
    add<double>(name, RealDomain{least, most}, member, text);
  }

  void text(std::string_view name, std::string Group::*member, std::string_view what, Text text) {
    entries_.push_back({table_, name, text.unit, text.meaning, TextDomain{what},
                        [group = group_, member](const Parameters& p) -> ParameterValue {
                          return p.*group.*member;
                        },
                        [group = group_, member](Parameters& p, const ParameterValue& value) {
                          p.*group.*member = std::get<std::string>(value);
                        }});
  }

  void numbers(std::string_view name, std::vector<double> Group::*member, NumbersDomain domain,
               Text text) {
    entries_.push_back({table_, name, text.unit, text.meaning, domain,
                        [group = group_, member](const Parameters& p) -> ParameterValue {
                          return numbers_text(p.*group.*member);
                        },
                        [group = group_, member](Parameters& p, const ParameterValue& value) {
                          p.*group.*member = numbers_of(std::get<std::string>(value)).value();
                        }});
  }

  /// A parameter that reads and writes itself: get gives an integer or a text, set takes what
  /// domain.accepts() does.
  template <class Member>
  void form(std::string_view name, Member Group::*member, FormDomain domain,
            ParameterValue (*get)(const Member&), Member (*set)(const ParameterValue&), Text text) {
    entries_.push_back({table_, name, text.unit, text.meaning, domain,
                        [group = group_, member, get](const Parameters& p) -> ParameterValue {
                          return get(p.*group.*member);
                        },
                        [group = group_, member, set](Parameters& p, const ParameterValue& value) {
                          p.*group.*member = set(value);
                        }});
  }

  template <class Enum>
  void names(std::string_view name, Enum Group::*member,
             std::span<const EnumName<std::type_identity_t<Enum>>> names,
             std::string_view meaning) {
    NameDomain domain;
    for (const EnumName<Enum>& entry : names) domain.names.push_back(entry.name);
    entries_.push_back(
        {table_, name, "", meaning, domain,
         [group = group_, member, names](const Parameters& p) -> ParameterValue {
           return std::string(enum_name(names, p.*group.*member));
         },
         [group = group_, member, names](Parameters& p, const ParameterValue& value) {
           for (const EnumName<Enum>& entry : names) {
             if (entry.name == std::get<std::string>(value)) p.*group.*member = entry.value;
           }
         }});
  }

 private:
  template <class Stored, class Member>
  void add(std::string_view name, ParameterDomain domain, Member Group::*member, Text text) {
    entries_.push_back({table_, name, text.unit, text.meaning, std::move(domain),
                        [group = group_, member](const Parameters& p) -> ParameterValue {
                          return static_cast<Stored>(p.*group.*member);
                        },
                        [group = group_, member](Parameters& p, const ParameterValue& value) {
                          // An integer may stand for a real number.
                          if (const auto* integer = std::get_if<std::int64_t>(&value)) {
                            p.*group.*member = static_cast<Member>(*integer);
                          } else {
                            p.*group.*member = static_cast<Member>(std::get<Stored>(value));
                          }
                        }});
  }

  std::vector<ParameterEntry>& entries_;
  std::string_view table_;
  Group Parameters::*group_;
};

}  // namespace diacut
