use strict;
use warnings;
use JSON::PP;

my $json = JSON::PP->new->utf8;
my $accepts = sub {
    my ($pattern, $texts) = @{$_[0]}{qw(pattern texts)};
    my $compiled = eval { qr/$pattern/ } or return "$@";
    return [map { $_ =~ $compiled ? JSON::PP::true : JSON::PP::false } @$texts];
};
local $/;
print $json->encode([map { $accepts->($_) } @{$json->decode(<STDIN>)}]);
