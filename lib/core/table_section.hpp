#pragma once

#include <algorithm>
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
    add(name, FlagDomain{}, member, text, same<bool>, held<bool>);
  }

  template <class Integer>
  void integer(std::string_view name, Integer Group::*member, std::int64_t least, std::int64_t most,
               Text text) {
    static_assert(std::is_signed_v<Integer> && sizeof(Integer) <= sizeof(std::int64_t));
    add(name, IntegerDomain{least, most}, member, text, same<std::int64_t>, held<std::int64_t>);
  }

  void real(std::string_view name, double Group::*member, double least, double most, Text text) {
    add(name, RealDomain{least, most}, member, text, same<double>, [](const ParameterValue& value) {
      const auto* integer = std::get_if<std::int64_t>(&value);  // May stand for a real number.
      return integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value);
    });
  }

  void text(std::string_view name, std::string Group::*member, std::string_view what, Text text) {
    add(name, TextDomain{what}, member, text, same<std::string>, held<std::string>);
  }

  void numbers(std::string_view name, std::vector<double> Group::*member, NumbersDomain domain,
               Text text) {
    add(name, domain, member, text, numbers_text, [](const ParameterValue& value) {
      return numbers_of(std::get<std::string>(value)).value();
    });
  }

  /// A parameter that reads and writes itself: get gives an integer or a text, set takes what
  /// domain.accepts() does.
  template <class Member>
  void form(std::string_view name, Member Group::*member, FormDomain domain,
            ParameterValue (*get)(const Member&), Member (*set)(const ParameterValue&), Text text) {
    add(name, domain, member, text, get, set);
  }

  template <class Enum>
  void names(std::string_view name, Enum Group::*member,
             std::span<const EnumName<std::type_identity_t<Enum>>> names,
             std::string_view meaning) {
    NameDomain domain;
    for (const EnumName<Enum>& entry : names) domain.names.push_back(entry.name);
    add(
        name, domain, member, {"", meaning},
        [names](Enum value) { return std::string(enum_name(names, value)); },
        [names](const ParameterValue& value) {
          const auto is_named = [&](const EnumName<Enum>& entry) {
            return entry.name == std::get<std::string>(value);
          };
          return std::find_if(names.begin(), names.end(), is_named)->value;
        });
  }

 private:
  template <class Value>
  static Value same(const Value& value) {
    return value;
  }
  template <class Value>
  static Value held(const ParameterValue& value) {
    return std::get<Value>(value);
  }

  template <class Member, class Get, class Set>
  void add(std::string_view name, ParameterDomain domain, Member Group::*member, Text text,
           const Get& get, const Set& set) {
    entries_.push_back({table_, name, text.unit, text.meaning, std::move(domain),
                        [group = group_, member, get](const Parameters& p) -> ParameterValue {
                          return get(p.*group.*member);
                        },
                        [group = group_, member, set](Parameters& p, const ParameterValue& value) {
                          p.*group.*member = static_cast<Member>(set(value));
                        }});
  }

  std::vector<ParameterEntry>& entries_;
  std::string_view table_;
  Group Parameters::*group_;
};

}  // namespace diacut
